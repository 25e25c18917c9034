import { createSocket, type Socket, type SocketType } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { type DatagramBatch, openDatagramBatch, targetOf } from './datagram-batch.ts';
import { parseIp } from './stun/address.ts';
import { udpHandleOf } from './udp-handle.ts';

const MAX_BYTES = 100;
const missing = (reason: string) => {
  throw new Error(reason);
};
const open: Socket[] = [];

afterEach(() => {
  for (const socket of open.splice(0)) socket.close();
});

/** A socket that Node does not read. */
async function bound(type: SocketType, address: string) {
  const socket = createSocket(type);
  open.push(socket);
  socket.bind(0, address);
  await once(socket, 'listening');
  const handle = udpHandleOf(socket);
  if (handle === undefined) throw new Error('The socket has no handle.');
  handle.recvStop();
  return { fd: handle.fd, port: socket.address().port };
}

function received(batch: DatagramBatch, fd: number) {
  return Array.from({ length: batch.receive(fd) }, (_, slot) => ({
    bytes: Uint8Array.from(batch.datagram(slot)),
    ip: Uint8Array.from(batch.sourceAddress(slot)),
    port: batch.sourcePort(slot),
    target: Uint8Array.from(batch.source(slot)),
  }));
}

async function newBatch(): Promise<DatagramBatch> {
  const batch = await openDatagramBatch(MAX_BYTES, missing);
  if (batch === undefined) throw new Error('There is no batch.');
  return batch;
}

describe.skipIf(process.platform !== 'linux')('many datagrams with one system call', () => {
  it.each([
    ['udp4', '127.0.0.1'],
    ['udp6', '::1'],
  ] as const)('go and come with their bytes and sources over %s', async (type, address) => {
    const [here, there] = [await bound(type, address), await bound(type, address)];
    const batch = await newBatch();
    const ip = parseIp(address) ?? new Uint8Array();
    const sent = Array.from({ length: batch.capacity }, (_, n) => Uint8Array.of(n, n + 1, ...new Uint8Array(n % 50)));
    for (const bytes of sent) expect(batch.put(bytes, targetOf(ip, there.port))).toBe(true);
    expect(batch.put(Uint8Array.of(1), targetOf(ip, there.port))).toBe(false);
    batch.send(here.fd);
    const source = { ip, port: here.port, target: targetOf(ip, here.port) };
    expect(received(batch, there.fd)).toEqual(sent.slice(0, batch.slots).map((bytes) => ({ bytes, ...source })));
    expect(received(batch, there.fd)).toEqual(sent.slice(batch.slots).map((bytes) => ({ bytes, ...source })));
    expect(batch.receive(there.fd)).toBe(0);
  });

  it('refuse one that is too long, and leave out one that cannot be sent', async () => {
    const [here, there] = [await bound('udp4', '127.0.0.1'), await bound('udp4', '127.0.0.1')];
    const batch = await newBatch();
    const target = targetOf(Uint8Array.of(127, 0, 0, 1), there.port);
    expect(batch.put(new Uint8Array(MAX_BYTES + 1), target)).toBe(false);
    batch.put(Uint8Array.of(1), target);
    // A socket on a loopback address has no way there.
    batch.put(Uint8Array.of(2), targetOf(Uint8Array.of(192, 0, 2, 1), 9));
    batch.put(Uint8Array.of(3), target);
    batch.send(here.fd);
    expect(batch.receive(there.fd)).toBe(2);
    expect([...batch.datagram(0), ...batch.datagram(1)]).toEqual([1, 3]);
  });

  it('cut what is longer than a slot', async () => {
    const there = await bound('udp4', '127.0.0.1');
    const sender = createSocket('udp4');
    open.push(sender);
    await new Promise((resolve) =>
      sender.send(new Uint8Array(MAX_BYTES + 50).fill(7), there.port, '127.0.0.1', resolve),
    );
    const batch = await newBatch();
    expect(batch.receive(there.fd)).toBe(1);
    expect(batch.datagram(0)).toEqual(new Uint8Array(MAX_BYTES).fill(7));
  });
});
