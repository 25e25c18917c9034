import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { PLATFORM_CHOICES } from './choice.ts';
import { platformOf } from './platform.ts';
import type { Streams } from './streams.ts';

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
    await streams.expectLoad();
    const [near, far] = await connection();
    const buffer = new Uint8Array(CHUNK_BYTES);
    const read: Buffer[] = [];
    for (let n = 0; n < CHUNKS; n++) write(streams, near, Buffer.alloc(CHUNK_BYTES, n % 251));
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
    for (let n = 0; n < CHUNKS; n++) write(streams, near, Buffer.alloc(CHUNK_BYTES, n));
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
      for (let n = 0; n < 20; n++) write(streams, near, Buffer.alloc(1_000, fill));
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
        write(streams, reader, Uint8Array.from(bytes));
      }),
    );
    near.on('data', (bytes: Buffer) => heard.push(bytes.toString()));
    near.write('echo');
    await expect.poll(() => heard.join('')).toBe('echo');
    const closed = new Promise((resolve) => reader.on('error', () => {}).once('close', resolve));
    near.resetAndDestroy();
    await closed;
    expect(streams.writeNow(reader, Uint8Array.of(1))).toBe(0);
  });

  it('take nothing at once while closed, ended, not connected yet, or where TLS would have to seal it', async () => {
    await streams.expectLoad();
    const [near, far] = await connection();
    const [sealed] = await connection();
    Object.assign(sealed, { encrypted: true });
    near.end();
    far.destroy();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const early = track(connect((server.address() as AddressInfo).port, '127.0.0.1'));
    expect([near, far, early, sealed].map((socket) => streams.writeNow(socket, Uint8Array.of(1)))).toEqual([
      0, 0, 0, 0,
    ]);
    server.close();
  });
});

it.runIf(process.platform === 'linux')(
  'on Linux what the kernel takes at once is written past the stream, once loaded',
  async () => {
    const { streams } = platformOf('auto');
    const [near] = await connection();
    await streams.expectLoad();
    expect([streams.writeNow(near, new Uint8Array(1_000)), near.bytesWritten]).toEqual([1_000, 0]);
  },
);

/** As whoever uses `writeNow` does. */
function write(streams: Streams, socket: Socket, bytes: Uint8Array): void {
  const written = streams.writeNow(socket, bytes);
  if (written < bytes.length) socket.write(bytes.subarray(written));
}

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
