import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { PLATFORM_CHOICES } from './choice.ts';
import { platformOf } from './platform.ts';

const CHUNK_BYTES = 65_536;
/** More than any socket buffer: some of it has to wait. */
const CHUNKS = 300;
const open: { destroy(): unknown }[] = [];

afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

describe.each(PLATFORM_CHOICES)('streams, platform %s', (choice) => {
  const { streams } = platformOf(choice);

  it('arrive in order and whole when the receiver is slow, to the last byte before the end', async () => {
    const [near, far] = await connection();
    const buffer = new Uint8Array(CHUNK_BYTES);
    const read: Buffer[] = [];
    for (let n = 0; n < CHUNKS; n++) near.write(Buffer.alloc(CHUNK_BYTES, n % 251));
    expect(near.writableLength).toBeGreaterThan(0);
    near.end();
    const reader = track(streams.read(far, buffer, (bytes) => read.push(Buffer.from(bytes))));
    await once(reader, 'end');
    const expected = Buffer.concat(Array.from({ length: CHUNKS }, (_, n) => Buffer.alloc(CHUNK_BYTES, n % 251)));
    expect(Buffer.concat(read).equals(expected)).toBe(true);
  });

  it('give a paused reader nothing until it goes on, and then all of it', async () => {
    const [near, far] = await connection();
    const buffer = new Uint8Array(CHUNK_BYTES);
    let [total, whilePaused, isPaused] = [0, 0, false];
    const reader = track(
      streams.read(far, buffer, (bytes) => {
        total += bytes.length;
        if (isPaused) whilePaused += bytes.length;
        if (total >= CHUNK_BYTES && total < 2 * CHUNK_BYTES) {
          isPaused = true;
          reader.pause();
        }
      }),
    );
    for (let n = 0; n < CHUNKS; n++) near.write(Buffer.alloc(CHUNK_BYTES, n));
    near.end();
    await expect.poll(() => isPaused).toBe(true);
    // Whoever writes has to wait too.
    await expect.poll(() => near.writableLength).toBeGreaterThan(0);
    isPaused = false;
    const [before] = [whilePaused];
    reader.resume();
    await once(reader, 'end');
    expect([before, total]).toEqual([0, CHUNKS * CHUNK_BYTES]);
  });

  it('of two connections with one buffer do not mix', async () => {
    const buffer = new Uint8Array(CHUNK_BYTES);
    const seen: Set<number>[] = [];
    const ends = [1, 2].map(async (fill) => {
      const [near, far] = await connection();
      const mine = new Set<number>();
      seen.push(mine);
      const reader = track(
        streams.read(far, buffer, (bytes) => {
          for (const byte of bytes) mine.add(byte);
        }),
      );
      for (let n = 0; n < 20; n++) near.write(Buffer.alloc(1_000, fill));
      near.end();
      await once(reader, 'end');
    });
    await Promise.all(ends);
    expect(seen.map((bytes) => [...bytes]).toSorted()).toEqual([[1], [2]]);
  });

  it('are written to from both ends, and tell of an end, an abort and a close', async () => {
    const [near, far] = await connection();
    const heard: string[] = [];
    const reader = track(
      streams.read(far, new Uint8Array(16), (bytes) => {
        reader.write(Uint8Array.from(bytes));
      }),
    );
    near.on('data', (bytes: Buffer) => heard.push(bytes.toString()));
    near.write('echo');
    await expect.poll(() => heard.join('')).toBe('echo');
    const closed = new Promise((resolve) => reader.on('error', () => {}).once('close', resolve));
    near.resetAndDestroy();
    await closed;
  });
});

function track(socket: Socket): Socket {
  open.push(socket);
  return socket;
}

/** A connection over loopback, both ends; nothing is read until asked for. */
async function connection(): Promise<readonly [Socket, Socket]> {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  if (near.connecting) await once(near, 'connect');
  server.close();
  return [track(near), track(far)];
}
