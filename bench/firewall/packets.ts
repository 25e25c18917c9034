import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import koffi from 'koffi';
import { socketAddressOf } from '../../platform/datagrams.ts';
import { DatagramBatch } from '../../platform/linux/datagram-batch.ts';
import { udpHandleOf } from '../../platform/linux/udp-handle.ts';

/**
 * Sends UDP to and fro between two ports of this host, in one thread: the kernel delivers what loopback takes before
 * it returns. Each line on stdin asks for a figure, nanoseconds for one packet, on stdout.
 */
const [ADDRESS, PORT, OTHER_PORT] = ['10.96.0.1', 40_000, 5_201] as const;
const BYTES = 100;
const BURSTS = 200;
/** The fastest counts: nothing makes a packet faster than it is. */
const TRIES = 60;

const batch = new DatagramBatch(koffi, BYTES);
const datagram = new Uint8Array(BYTES);
const here = await bound(PORT);
const there = await bound(OTHER_PORT);
const directions = [
  { from: here, to: there },
  { from: there, to: here },
];

// The first is slower: its code is not compiled yet.
nanosecondsOfOne();
for await (const _ of createInterface({ input: process.stdin })) {
  console.log(Math.min(...Array.from({ length: TRIES }, nanosecondsOfOne)).toFixed(0));
}
process.exit();

function nanosecondsOfOne(): number {
  const startedAt = process.hrtime.bigint();
  let received = 0;
  for (let burst = 0; burst < BURSTS; burst += 1) {
    for (const { from, to } of directions) {
      for (let slot = 0; slot < batch.slots; slot += 1) batch.put(datagram, to.place);
      batch.send(from.fd);
      received += batch.receive(to.fd);
    }
  }
  const sent = BURSTS * directions.length * batch.slots;
  if (received < sent) throw new Error(`${received} of ${sent} packets arrived.`);
  return Number(process.hrtime.bigint() - startedAt) / sent;
}

async function bound(port: number) {
  const socket: Socket = createSocket('udp4');
  socket.bind(port, ADDRESS);
  await once(socket, 'listening');
  const handle = udpHandleOf(socket);
  if (!handle) throw new Error('The socket has no descriptor.');
  handle.recvStop();
  return { fd: handle.fd, place: socketAddressOf(ADDRESS, port) };
}
