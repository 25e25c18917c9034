import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { socketAddressOf } from '../datagrams.ts';
import { BurstSocket } from './burst-socket.ts';
import { openDatagramBatch } from './datagram-batch.ts';
import { udpHandleOf } from './udp-handle.ts';

const PACKETS = 6_000;
const WINDOW = 64;
const OPTIONS = {
  family: 'ipv4',
  host: '0.0.0.0',
  port: 0,
  receiveBufferBytes: 8_388_608,
  maxBytes: 'coalesced',
} as const;

it.skipIf(process.platform !== 'linux')(
  'loses and changes nothing when it begins to work in batches under load',
  async () => {
    const messages: string[] = [];
    const log = {
      error() {},
      warn() {},
      info() {},
      debug: (_fields: object, message: string) => messages.push(message),
    };
    const wireguard = createSocket('udp4');
    wireguard.bind(0, '127.0.0.1');
    await once(wireguard, 'listening');
    const { port } = wireguard.address();
    const there = socketAddressOf('127.0.0.1', port);
    const strangers = new Set<string>();
    // What arrives goes back: the window is full until the last packet.
    const socket = await BurstSocket.open({
      ...OPTIONS,
      log,
      onDatagrams(packet, segment, from) {
        if (from.address !== '127.0.0.1' || from.port !== port) strangers.add(`${from.address}:${from.port}`);
        socket.send(packet, segment, there);
      },
    });
    const returned: number[] = [];
    const numbered = (n: number) => {
      const packet = Buffer.alloc(1_300);
      packet.writeUInt32BE(n);
      return packet;
    };
    let sent = 0;
    const done = new Promise<void>((resolve) => {
      wireguard.on('message', (packet) => {
        returned.push(packet.readUInt32BE());
        if (sent < PACKETS) wireguard.send(numbered(sent++), socket.port, '127.0.0.1');
        if (returned.length === PACKETS) resolve();
      });
    });
    while (sent < WINDOW) wireguard.send(numbered(sent++), socket.port, '127.0.0.1');
    await done;
    expect(returned.toSorted((a, b) => a - b)).toEqual(Array.from({ length: PACKETS }, (_, n) => n));
    expect([...strangers]).toEqual([]);
    expect(messages).toEqual(['Datagrams go in batches.']);
    await socket.close();
    socket.send(numbered(0), 0, there);
    wireguard.close();
  },
);

it.skipIf(process.platform !== 'linux')('hands on what was sent as one as one, once it is busy', async () => {
  const messages: string[] = [];
  const log = { error() {}, warn() {}, info() {}, debug: (_fields: object, message: string) => messages.push(message) };
  const sender = createSocket('udp4');
  sender.bind(0, '127.0.0.1');
  await once(sender, 'listening');
  const seen: (readonly [Uint8Array, number])[] = [];
  const drained: number[] = [];
  const socket = await BurstSocket.open({
    ...OPTIONS,
    log,
    onDrained: () => drained.push(seen.length),
    onDatagrams: (packets, segment) => seen.push([Uint8Array.from(packets), segment]),
  });
  const isBusy = () => messages.includes('Datagrams go in batches.');
  while (!isBusy()) {
    for (let n = 0; n < 100; n++) sender.send(Uint8Array.of(n), socket.port, '127.0.0.1');
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expect.poll(() => seen.at(-1)?.[0][0]).toBe(99);
  const batch = await openDatagramBatch('coalesced', () => {});
  const handle = udpHandleOf(sender);
  if (batch === undefined || handle === undefined) throw new Error('There is no batch.');
  const burst = Uint8Array.from({ length: 5_000 }, (_, at) => at % 251);
  batch.put(burst, socketAddressOf('127.0.0.1', socket.port), 1_312);
  batch.send(handle.fd);
  await expect.poll(() => seen.at(-1)).toEqual([burst, 1_312]);
  expect(drained.at(-1)).toBe(seen.length);
  await socket.close();
  sender.close();
});
