import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { loadDirectWrite, writeDirect } from './direct-write.ts';

const open: { destroy(): unknown }[] = [];

afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

/** A connection over loopback, both ends; nothing is read until asked for. */
async function connection(): Promise<readonly [Socket, Socket]> {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  if (near.connecting) await once(near, 'connect');
  open.push(near, far);
  server.close();
  return [near, far];
}

describe.skipIf(process.platform !== 'linux')('what is written past the stream', () => {
  it('is nothing before it is loaded', async () => {
    const [near] = await connection();
    expect(writeDirect(near, Uint8Array.of(1))).toBe(0);
    await loadDirectWrite();
    expect(writeDirect(near, Uint8Array.of(1))).toBe(1);
  });

  it('keeps its order with what the stream writes when the receiver is slow', async () => {
    await loadDirectWrite();
    const [near, far] = await connection();
    const chunk = Buffer.alloc(65_536);
    const waits = { direct: 0, stream: 0 };
    const total = 300;
    for (let n = 0; n < total; n++) {
      chunk.fill(n % 251);
      const written = writeDirect(near, chunk);
      waits.direct += written;
      waits.stream += chunk.length - written;
      if (written < chunk.length) near.write(Uint8Array.from(chunk.subarray(written)));
    }
    // More than any socket buffer: some of it had to wait.
    expect(waits).toEqual({ direct: expect.any(Number), stream: expect.any(Number) });
    expect(Math.min(waits.direct, waits.stream)).toBeGreaterThan(0);
    near.end();
    const read: Buffer[] = [];
    for await (const bytes of far) read.push(bytes as Buffer);
    const expected = Buffer.concat(Array.from({ length: total }, (_, n) => Buffer.alloc(65_536, n % 251)));
    expect(Buffer.concat(read).equals(expected)).toBe(true);
  });

  it('is nothing on a socket that is closed, ended or not connected yet', async () => {
    await loadDirectWrite();
    const [near, far] = await connection();
    near.end();
    expect(writeDirect(near, Uint8Array.of(1))).toBe(0);
    far.destroy();
    expect(writeDirect(far, Uint8Array.of(1))).toBe(0);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const early = connect((server.address() as AddressInfo).port, '127.0.0.1');
    open.push(early);
    expect(writeDirect(early, Uint8Array.of(1))).toBe(0);
    server.close();
  });

  it('is nothing where TLS would have to seal it', async () => {
    await loadDirectWrite();
    const [near] = await connection();
    expect(writeDirect(Object.assign(near, { encrypted: true }), Uint8Array.of(1))).toBe(0);
  });
});
