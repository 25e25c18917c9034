import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { openDatagramBatch } from '../../net/datagram-batch.ts';
import { udpHandleOf } from '../../net/udp-handle.ts';
import { LoopbackSocket, placeOf } from './loopback-socket.ts';

const PACKETS = 6_000;
const WINDOW = 64;

it('loses and changes nothing when it begins to work in batches under load', async () => {
  const messages: string[] = [];
  const log = { ...silentLog, debug: (_fields: object, message: string) => void messages.push(message) };
  const wireguard = createSocket('udp4');
  wireguard.bind(0, '127.0.0.1');
  await once(wireguard, 'listening');
  const { port } = wireguard.address();
  const there = placeOf('127.0.0.1', port);
  const strangers = new Set<string>();
  // What arrives goes back: the window is full until the last packet.
  const socket = await LoopbackSocket.open({
    family: 'ipv4',
    now: () => performance.now(),
    log,
    onDrained() {},
    onPackets(packet, segment, ip, from) {
      if (ip.join('.') !== '127.0.0.1' || from !== port) strangers.add(`${ip.join('.')}:${from}`);
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
  if (process.platform === 'linux') expect(messages).toEqual(['Relayed packets go in batches.']);
  await socket.close();
  socket.send(numbered(0), 0, there);
  wireguard.close();
});

it.skipIf(process.platform !== 'linux')('hands on what was sent as one as one, once it is busy', async () => {
  const messages: string[] = [];
  const log = { ...silentLog, debug: (_fields: object, message: string) => void messages.push(message) };
  const sender = createSocket('udp4');
  sender.bind(0, '127.0.0.1');
  await once(sender, 'listening');
  const seen: (readonly [Uint8Array, number])[] = [];
  const drained: number[] = [];
  const socket = await LoopbackSocket.open({
    family: 'ipv4',
    now: () => performance.now(),
    log,
    onDrained: () => drained.push(seen.length),
    onPackets: (packets, segment) => seen.push([Uint8Array.from(packets), segment]),
  });
  const isBusy = () => messages.includes('Relayed packets go in batches.');
  while (!isBusy()) {
    for (let n = 0; n < 100; n++) sender.send(Uint8Array.of(n), socket.port, '127.0.0.1');
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expect.poll(() => seen.at(-1)?.[0][0]).toBe(99);
  const batch = await openDatagramBatch('joined', () => {});
  const handle = udpHandleOf(sender);
  if (batch === undefined || handle === undefined) throw new Error('There is no batch.');
  const burst = Uint8Array.from({ length: 5_000 }, (_, at) => at % 251);
  batch.put(burst, placeOf('127.0.0.1', socket.port).target, 1_312);
  batch.send(handle.fd);
  await expect.poll(() => seen.at(-1)).toEqual([burst, 1_312]);
  expect(drained.at(-1)).toBe(seen.length);
  await socket.close();
  sender.close();
});

it('names a place by an address alone', () => {
  expect(placeOf('127.77.0.1', 51_820)).toMatchObject({ ip: Uint8Array.of(127, 77, 0, 1), port: 51_820 });
  expect(() => placeOf('mesh.example', 1)).toThrow('mesh.example is no address.');
});
