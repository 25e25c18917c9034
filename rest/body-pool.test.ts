import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { BodyPool } from './body-pool.ts';
import { BODY_LIMIT, readBody } from './read-body.ts';

const LIMITS = { free: 65_536, total: 2_000_000, perSource: 1_000_000 };
const BYTES = 900_000;

/** A server that reads bodies with the memory of a small pool; each request is told once it came, with how it ends. */
async function openServer(pool: BodyPool) {
  const came: ((read: Promise<string>) => void)[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const read = readBody(request, BODY_LIMIT, { pool }).then(
      (text) => `read ${text.length}`,
      ({ code }) => code as string,
    );
    came.shift()?.(read);
    void read.then(() => response.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  return {
    /** Sends the first bytes of a body. */
    async send(bytes: number, length = bytes) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      sockets.push(socket);
      const begun = new Promise<{ ended: Promise<string> }>((resolve) => {
        came.push((ended) => resolve({ ended }));
      });
      socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(bytes)}`);
      return { socket, ...(await begun) };
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

test('bodies that do not end share one pool: the newest is refused, and small ones never are', async () => {
  const pool = new BodyPool(LIMITS);
  await using server = await openServer(pool);
  const unfinished = [];
  for (let at = 0; at < 4; at += 1) unfinished.push(await server.send(BYTES - 6, BYTES));
  expect(await Promise.race(unfinished.map(({ ended }) => ended))).toBe('rate_limited');
  expect(pool.held).toBeLessThanOrEqual(LIMITS.total);
  expect(await (await server.send(65_536)).ended).toBe('read 65536');
  for (const { socket } of unfinished) socket.destroy();
  const ends = await Promise.all(unfinished.map(({ ended }) => ended));
  expect(new Set(ends)).toEqual(new Set(['rate_limited', 'invalid_input']));
  expect(pool.held).toBe(0);
  expect(await (await server.send(BYTES)).ended).toBe(`read ${BYTES}`);
  expect(pool.held).toBe(0);
});

test('one address has its share of the pool, and gives back what it took once', () => {
  const pool = new BodyPool(LIMITS);
  const first = pool.open('203.0.113.1');
  first.growTo(1_000_000);
  expect(() => pool.open('203.0.113.1').growTo(200_000)).toThrow('Too many large bodies');
  pool.open('203.0.113.2').growTo(200_000);
  const held = pool.held;
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(pool.held).toBe(held - (1_000_000 - LIMITS.free));
  expect(() => pool.open('203.0.113.1').growTo(1_000_000)).not.toThrow();
});
