import type { RemoteInfo, Socket } from 'node:dgram';
import { type DatagramOptions, type DatagramSocket, type SocketAddress, socketAddressOf } from '../datagrams.ts';
import { boundSocket, closed, sendApart } from '../plain/udp-socket.ts';
import { countOf } from '../segments.ts';
import { ArrivalSignal } from './arrival-signal.ts';
import { DatagramBatch } from './datagram-batch.ts';
import { loadKoffi } from './libc.ts';
import { type UdpHandle, udpHandleOf } from './udp-handle.ts';

/** Datagrams a second from which on they are read and written in batches; below, loading koffi would not pay. */
const BUSY_DATAGRAMS = 2_000;
const BUSY_WITHIN_MS = 1_000;
/** So many datagrams at once tell that more follow: then they are asked for each turn, instead of waiting for a signal. */
const HOT_DATAGRAMS = 8;
/** Batches in one turn of the event loop, so that a flood leaves room for other work. */
const MAX_BATCHES = 16;

const SETTLED = Promise.resolve();

interface Busy {
  readonly batch: DatagramBatch;
  readonly handle: UdpHandle;
  readonly signal: ArrivalSignal | undefined;
  /** Datagrams are read here, on a signal; else by Node, one for each of its events. */
  isReading: boolean;
  isHot: boolean;
}

/**
 * A UDP socket on all addresses of one family. Once it is busy, one system call reads or writes many datagrams, and
 * those that were sent as one stay coalesced.
 */
export class BurstSocket implements DatagramSocket {
  readonly port: number;
  readonly #options: DatagramOptions;
  readonly #socket: Socket;
  /** The parts that only a busy socket has. */
  #busy: Busy | undefined;
  #isAsked = false;
  #isSending = false;
  #closing: Promise<void> | undefined;
  #countedFrom = 0;
  #counted = 0;

  private constructor(options: DatagramOptions, socket: Socket) {
    this.#options = options;
    this.#socket = socket;
    this.port = socket.address().port;
    this.#countedFrom = performance.now();
    socket.on('message', (datagram, source) => this.#receive(datagram, source));
  }

  static async open(options: DatagramOptions): Promise<BurstSocket> {
    return new BurstSocket(options, await boundSocket(options));
  }

  send(bytes: Uint8Array, segment: number, to: SocketAddress): void {
    if (this.#closing !== undefined) return;
    this.#count(countOf(bytes, segment));
    if (!this.#putIntoBatch(bytes, segment, to)) sendApart(this.#socket, bytes, segment, to);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #close(): Promise<void> {
    const busy = this.#busy;
    this.#busy = undefined;
    busy?.signal?.off();
    // Sends the datagrams that were put just before.
    busy?.batch.send(busy.handle.fd);
    return closed(this.#socket);
  }

  /** Leaves at the end of the callback that is running: a read of the relay's connection brings many packets. */
  #putIntoBatch(bytes: Uint8Array, segment: number, to: SocketAddress): boolean {
    const busy = this.#busy;
    if (busy === undefined) return false;
    if (!busy.batch.put(bytes, to, segment)) {
      busy.batch.send(busy.handle.fd);
      if (!busy.batch.put(bytes, to, segment)) return false;
    }
    if (!this.#isSending) {
      this.#isSending = true;
      // As queueMicrotask, which makes more of it.
      void SETTLED.then(() => {
        this.#isSending = false;
        if (this.#busy) busy.batch.send(busy.handle.fd);
      });
    }
    return true;
  }

  #receive(datagram: Uint8Array, { address, port }: RemoteInfo): void {
    if (this.#closing !== undefined) return;
    this.#options.onDatagrams(datagram, 0, socketAddressOf(address, port));
    this.#count(1);
  }

  /** The first signal proves that signals come: only then is Node kept from reading. */
  #arrived(busy: Busy): void {
    if (!busy.isReading) {
      busy.isReading = true;
      busy.handle.recvStop();
      busy.batch.receiveCoalesced(busy.handle.fd);
      this.#options.log?.debug({}, 'Datagrams go in batches.');
    }
    if (!busy.isHot && this.#drain(busy) >= HOT_DATAGRAMS) this.#stayHot(busy);
  }

  /** Reads what waits. @returns how many datagrams */
  #drain({ batch, handle }: Busy): number {
    let total = 0;
    for (let round = 0; round < MAX_BATCHES && this.#busy; round++) {
      const received = batch.receive(handle.fd);
      for (let slot = 0; slot < received && this.#busy; slot++) {
        this.#options.onDatagrams(batch.datagram(slot), batch.segment(slot), batch.source(slot));
      }
      total += received;
      if (received < batch.slots) break;
    }
    if (total > 0) this.#options.onDrained?.();
    return total;
  }

  /** Asks each turn of the event loop until nothing came: a signal for each packet costs more than a call for many. */
  #stayHot(busy: Busy): void {
    // Closed meanwhile: its descriptor may be another's.
    if (this.#busy === undefined) return;
    busy.isHot = true;
    busy.signal?.off();
    const ask = () => {
      if (this.#busy === undefined) return;
      if (this.#drain(busy) > 0) {
        setImmediate(ask);
        return;
      }
      if (this.#busy === undefined) return;
      busy.signal?.on();
      busy.isHot = false;
      // The signal does not report datagrams that came before it was on.
      if (this.#drain(busy) > 0) this.#stayHot(busy);
    };
    setImmediate(ask);
  }

  #count(datagrams: number): void {
    if (this.#isAsked) return;
    this.#counted += datagrams;
    if (this.#counted < BUSY_DATAGRAMS) return;
    const began = this.#countedFrom;
    this.#countedFrom = performance.now();
    this.#counted = 0;
    if (this.#countedFrom - began > BUSY_WITHIN_MS) return;
    this.#isAsked = true;
    this.#workInBatches().catch((error: unknown) =>
      this.#options.log?.warn({ err: error }, 'Datagrams go one by one.'),
    );
  }

  async #workInBatches(): Promise<void> {
    const { log } = this.#options;
    const koffi = await loadKoffi((reason) => log?.debug({ reason }, 'Datagrams go one by one.'));
    if (koffi === undefined || this.#closing !== undefined) return;
    const handle = udpHandleOf(this.#socket);
    if (handle === undefined) return;
    const batch = new DatagramBatch(koffi, 'coalesced');
    const signal = ArrivalSignal.open(koffi, handle.fd, () => this.#arrived(busy));
    const busy: Busy = { batch, handle, signal, isReading: false, isHot: false };
    this.#busy = busy;
    signal?.on();
  }
}
