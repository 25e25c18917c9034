import { createSocket, type Socket, type SocketType } from 'node:dgram';
import { once } from 'node:events';
import koffi from 'koffi';
import { afterEach, describe, expect, it } from 'vitest';
import { socketAddressOf } from '../datagrams.ts';
import { partsOf } from '../segments.ts';
import { DatagramBatch, openDatagramBatch } from './datagram-batch.ts';
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
    from: { address: batch.source(slot).address, ip: [...batch.source(slot).ip], port: batch.source(slot).port },
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
    const to = socketAddressOf(address, there.port);
    const sent = Array.from({ length: batch.capacity }, (_, n) => Uint8Array.of(n, n + 1, ...new Uint8Array(n % 50)));
    for (const bytes of sent) expect(batch.put(bytes, to)).toBe(true);
    expect(batch.put(Uint8Array.of(1), to)).toBe(false);
    batch.send(here.fd);
    const from = { address, ip: [...to.ip], port: here.port };
    expect(received(batch, there.fd)).toEqual(sent.slice(0, batch.slots).map((bytes) => ({ bytes, from })));
    expect(received(batch, there.fd)).toEqual(sent.slice(batch.slots).map((bytes) => ({ bytes, from })));
    expect(batch.receive(there.fd)).toBe(0);
  });

  it('refuse one that is too long, and leave out one that cannot be sent', async () => {
    const [here, there] = [await bound('udp4', '127.0.0.1'), await bound('udp4', '127.0.0.1')];
    const batch = await newBatch();
    const target = socketAddressOf('127.0.0.1', there.port);
    expect(batch.put(new Uint8Array(MAX_BYTES + 1), target)).toBe(false);
    batch.put(Uint8Array.of(1), target);
    // A socket on a loopback address has no way there.
    batch.put(Uint8Array.of(2), socketAddressOf('192.0.2.1', 9));
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

describe.skipIf(process.platform !== 'linux')('coalesced datagrams', () => {
  /** As koffi, but its `sendmmsg` tells how many messages it was given, and may refuse. */
  function observed(counts: number[], refuses: () => boolean) {
    const libc = koffi.load(null);
    const func = (prototype: string) => {
      const real = libc.func(prototype);
      if (!prototype.includes('sendmmsg')) return real;
      return (fd: number, headers: bigint, count: number, flags: number) => {
        counts.push(count);
        return refuses() ? -1 : real(fd, headers, count, flags);
      };
    };
    return { ...koffi, load: () => ({ func }), errno: () => 5 } as unknown as typeof koffi;
  }

  it.each([
    ['udp4', '127.0.0.1'],
    ['udp6', '::1'],
  ] as const)('leave as one message and arrive one by one, in order, over %s', async (type, address) => {
    const [here, there, other] = [await bound(type, address), await bound(type, address), await bound(type, address)];
    const counts: number[] = [];
    const batch = new DatagramBatch(
      observed(counts, () => false),
      'coalesced',
    );
    const [toThere, toOther] = [socketAddressOf(address, there.port), socketAddressOf(address, other.port)];
    // A shorter one ends a message, a longer one begins another, as does another target; an empty one stands alone.
    const sent = [10, 10, 10, 7, 7, 7, 9, 0, 9].map((length, n) => new Uint8Array(length).fill(n));
    for (const bytes of sent) batch.put(bytes, toThere);
    for (const n of [1, 2]) batch.put(Uint8Array.of(n), toOther);
    batch.put(Uint8Array.of(3), toThere);
    batch.send(here.fd);
    expect(counts).toEqual([7]);
    expect(received(batch, there.fd).map(({ bytes }) => bytes)).toEqual([...sent, Uint8Array.of(3)]);
    expect(received(batch, other.fd).map(({ bytes }) => bytes)).toEqual([Uint8Array.of(1), Uint8Array.of(2)]);
  });

  it('begin another message before one holds more than IP can carry', async () => {
    const bytes = 2_000;
    const [here, there] = [await bound('udp4', '127.0.0.1'), await bound('udp4', '127.0.0.1')];
    const counts: number[] = [];
    const batch = new DatagramBatch(
      observed(counts, () => false),
      'coalesced',
    );
    const target = socketAddressOf('127.0.0.1', there.port);
    for (let n = 0; n < 64; n++) batch.put(new Uint8Array(bytes).fill(n), target);
    batch.send(here.fd);
    expect(counts).toEqual([2]);
    const arrived = Array.from({ length: 4 }, () => received(batch, there.fd)).flat();
    expect(arrived.map((datagram) => [datagram.bytes.length, datagram.bytes[0]])).toEqual(
      Array.from({ length: 64 }, (_, n) => [bytes, n]),
    );
  });

  it.each([
    ['udp4', '127.0.0.1'],
    ['udp6', '::1'],
  ] as const)('arrive coalesced at a socket that takes them so, and leave so again, over %s', async (type, address) => {
    const [here, there, beyond] = [await bound(type, address), await bound(type, address), await bound(type, address)];
    const batch = new DatagramBatch(koffi, 'coalesced');
    batch.receiveCoalesced(there.fd);
    const bytes = Uint8Array.from({ length: 62_000 }, (_, at) => at % 251);
    expect(batch.put(bytes, socketAddressOf(address, there.port), 1_312)).toBe(true);
    batch.put(Uint8Array.of(1, 2, 3), socketAddressOf(address, there.port));
    batch.send(here.fd);
    expect(batch.receive(there.fd)).toBe(2);
    expect([batch.segment(0), batch.segment(1)]).toEqual([1_312, 0]);
    expect(batch.datagram(0)).toEqual(bytes);
    expect([...batch.datagram(1)]).toEqual([1, 2, 3]);
    batch.put(batch.datagram(0), socketAddressOf(address, beyond.port), batch.segment(0));
    batch.send(there.fd);
    const arrived = Array.from({ length: 4 }, () => received(batch, beyond.fd)).flat();
    expect(arrived.map((datagram) => datagram.bytes)).toEqual([...partsOf(bytes, 1_312)]);
  });

  it('are refused when more waits than there is room for, and taken after it was sent', async () => {
    const [here, there] = [await bound('udp4', '127.0.0.1'), await bound('udp4', '127.0.0.1')];
    const batch = new DatagramBatch(koffi, 'coalesced');
    batch.receiveCoalesced(there.fd);
    const target = socketAddressOf('127.0.0.1', there.port);
    const burst = new Uint8Array(62_000).fill(9);
    const taken = Array.from({ length: 6 }, () => batch.put(burst, target, 1_312));
    expect(taken).toEqual([true, true, true, true, false, false]);
    batch.send(here.fd);
    expect(batch.put(burst, target, 1_312)).toBe(true);
    batch.send(here.fd);
    expect(received(batch, there.fd)[0]?.bytes).toHaveLength(burst.length);
  });

  it('are sent apart when Linux would not take so many as one', async () => {
    const [here, there] = [await bound('udp4', '127.0.0.1'), await bound('udp4', '127.0.0.1')];
    const batch = new DatagramBatch(koffi, 'coalesced');
    const target = socketAddressOf('127.0.0.1', there.port);
    expect(batch.put(new Uint8Array(65).fill(1), target, 1)).toBe(true);
    batch.send(here.fd);
    const arrived = Array.from({ length: 5 }, () => received(batch, there.fd)).flat();
    expect(arrived.map(({ bytes }) => [...bytes])).toEqual(new Array(65).fill([1]));
  });

  it('go one by one once a kernel refused a message of many', async () => {
    const [here, there] = [await bound('udp4', '127.0.0.1'), await bound('udp4', '127.0.0.1')];
    const counts: number[] = [];
    const batch = new DatagramBatch(
      observed(counts, () => counts.length === 1),
      'coalesced',
    );
    const target = socketAddressOf('127.0.0.1', there.port);
    for (const _ of ['refused', 'taken']) {
      for (const n of [1, 2, 3]) batch.put(Uint8Array.of(n), target);
      batch.send(here.fd);
    }
    expect(counts).toEqual([1, 3]);
    expect(received(batch, there.fd).map(({ bytes }) => [...bytes])).toEqual([[1], [2], [3]]);
  });
});
