import type { RemoteInfo, Socket } from 'node:dgram';
import { type DatagramOptions, type DatagramSocket, type SocketAddress, socketAddressOf } from '../datagrams.ts';
import { PlainSocket } from '../plain/datagrams.ts';
import { boundSocket, closed, sendApart } from '../plain/udp-socket.ts';
import { type DatagramBatch, openDatagramBatch } from './datagram-batch.ts';
import { udpHandleOf } from './udp-handle.ts';

/** Batches in one turn of the event loop, so that a flood leaves room for other work. */
const MAX_BATCHES = 16;

/** By the longest datagram, one for all sockets: a drain runs to its end before another begins. */
const shared = new Map<number, Promise<DatagramBatch | undefined>>();

/** A socket for many peers with little to say. The plain one where this cannot be. */
export async function openDrainedSocket(options: DatagramOptions, maxBytes: number): Promise<DatagramSocket> {
  const { log } = options;
  const batch =
    shared.get(maxBytes) ??
    openDatagramBatch(maxBytes, (reason) => log?.info({ reason }, 'Datagrams are answered one by one.'));
  shared.set(maxBytes, batch);
  const [opened, socket] = [await batch, await boundSocket(options)];
  const fd = udpHandleOf(socket)?.fd;
  return opened && fd !== undefined ? new DrainedSocket(options, socket, fd, opened) : new PlainSocket(options, socket);
}

/** Reads with each datagram that comes as an event all that wait behind it, and all that come meanwhile. */
class DrainedSocket implements DatagramSocket {
  readonly port: number;
  readonly #onDatagrams: DatagramOptions['onDatagrams'];
  readonly #socket: Socket;
  readonly #fd: number;
  readonly #batch: DatagramBatch;
  #isDraining = false;
  #closing: Promise<void> | undefined;

  constructor({ onDatagrams }: DatagramOptions, socket: Socket, fd: number, batch: DatagramBatch) {
    this.port = socket.address().port;
    this.#onDatagrams = onDatagrams;
    this.#socket = socket;
    this.#fd = fd;
    this.#batch = batch;
    socket.on('message', (datagram, source) => this.#receive(datagram, source));
  }

  send(bytes: Uint8Array, segment: number, to: SocketAddress): void {
    if (this.#closing !== undefined) return;
    // Datagrams that are sent meanwhile leave with the batch that was read.
    if (this.#isDraining && this.#batch.put(bytes, to, segment)) return;
    sendApart(this.#socket, bytes, segment, to);
  }

  close(): Promise<void> {
    this.#closing ??= closed(this.#socket);
    return this.#closing;
  }

  #receive(datagram: Uint8Array, { address, port }: RemoteInfo): void {
    if (this.#closing !== undefined) return;
    this.#isDraining = true;
    try {
      this.#onDatagrams(datagram, 0, socketAddressOf(address, port));
      this.#drain();
    } finally {
      this.#isDraining = false;
      this.#batch.clear();
    }
  }

  #drain(): void {
    const batch = this.#batch;
    // The descriptor of a closed socket may be another's.
    for (let round = 0; round < MAX_BATCHES && this.#closing === undefined; round++) {
      const received = batch.receive(this.#fd);
      for (let slot = 0; slot < received && this.#closing === undefined; slot++) {
        this.#onDatagrams(batch.datagram(slot), 0, batch.source(slot));
      }
      if (this.#closing === undefined) batch.send(this.#fd);
      // Datagrams that came meanwhile cost less in another round than as events of their own.
      if (received === 0) return;
    }
  }
}
