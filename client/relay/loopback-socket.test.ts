import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { LoopbackSocket, placeOf } from './loopback-socket.ts';

const PACKETS = 6_000;
const WINDOW = 64;

it('loses and changes nothing when it begins to work in batches under load', async () => {
  const messages: string[] = [];
  const log = { error() {}, warn() {}, info() {}, debug: (_fields: object, message: string) => messages.push(message) };
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
    onPacket(packet, ip, from) {
      if (ip.join('.') !== '127.0.0.1' || from !== port) strangers.add(`${ip.join('.')}:${from}`);
      socket.send(packet, there);
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
  socket.send(numbered(0), there);
  wireguard.close();
});

it('names a place by an address alone', () => {
  expect(placeOf('127.77.0.1', 51_820)).toMatchObject({ ip: Uint8Array.of(127, 77, 0, 1), port: 51_820 });
  expect(() => placeOf('mesh.example', 1)).toThrow('mesh.example is no address.');
});
