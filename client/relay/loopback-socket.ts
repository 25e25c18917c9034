import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import type { Log } from '../../core/base/ports.ts';
import { ArrivalSignal } from '../../net/arrival-signal.ts';
import { type DatagramBatch, openDatagramBatch } from '../../net/datagram-batch.ts';
import { loadDirectWrite } from '../../net/direct-write.ts';
import { countOf, partsOf } from '../../net/joined.ts';
import { type Target, targetOf } from '../../net/sockaddr.ts';
import { parseIp } from '../../net/stun/address.ts';
import { type UdpHandle, udpHandleOf } from '../../net/udp-handle.ts';
import type { Family } from '../family.ts';

/** WireGuard sends in bursts, and they wait here while a turn of the event loop lasts. The kernel may grant less. */
const SOCKET_BUFFER_BYTES = 8_388_608;
/** Packets a second from which on they are read and written in batches; below, loading koffi would not pay. */
const BUSY_PACKETS = 2_000;
const BUSY_WITHIN_MS = 1_000;
/** So many datagrams at once tell that more follow: then they are asked for each turn, instead of waiting for a signal. */
const HOT_DATAGRAMS = 8;
/** Batches in one turn of the event loop, so that a flood leaves room for other work. */
const MAX_BATCHES = 16;

const SETTLED = Promise.resolve();

/** Where a packet goes. */
export interface Place {
  readonly address: string;
  /** 4 or 16 bytes. */
  readonly ip: Uint8Array;
  readonly port: number;
  /** The same for the system. */
  readonly target: Target;
}

/** @throws Error when the address is none */
export function placeOf(address: string, port: number): Place {
  const ip = parseIp(address);
  if (ip === undefined) throw new Error(`${address} is no address.`);
  return { address, ip, port, target: targetOf(ip, port) };
}

interface Busy {
  readonly batch: DatagramBatch;
  readonly handle: UdpHandle;
  readonly signal: ArrivalSignal | undefined;
  /** Packets are read here, on a signal; else by Node, one for each of its events. */
  isReading: boolean;
  isHot: boolean;
}

export interface LoopbackSocketOptions {
  readonly family: Family;
  /** Milliseconds; must not jump. */
  readonly now: () => number;
  readonly log: Log;
  /** Packets, joined ones by their segment (net/joined.ts), and the address, 4 or 16 bytes: valid until it returns. */
  readonly onPackets: (packets: Uint8Array, segment: number, address: Uint8Array, port: number) => void;
  /** All that waited was read. */
  readonly onDrained: () => void;
}

/**
 * A UDP socket on all addresses of one family. Once it is busy, one system call reads or writes many packets, and those that
 * were sent as one stay joined.
 */
export class LoopbackSocket {
  readonly #options: LoopbackSocketOptions;
  readonly #socket: Socket;
  /** What a busy socket works with. */
  #busy: Busy | undefined;
  #isAsked = false;
  #isSending = false;
  #isClosed = false;
  #countedFrom = 0;
  #counted = 0;

  private constructor(options: LoopbackSocketOptions, socket: Socket) {
    this.#options = options;
    this.#socket = socket;
    this.#countedFrom = options.now();
    socket.on('message', (packet, source) => this.#receive(packet, source));
    // One packet's failure; WireGuard sends again.
    socket.on('error', (error) => options.log.debug({ err: error }, 'A loopback packet was not sent.'));
  }

  static async open(options: LoopbackSocketOptions): Promise<LoopbackSocket> {
    const { family } = options;
    const isIpv6 = family === 'ipv6';
    const socket = createSocket({
      type: isIpv6 ? 'udp6' : 'udp4',
      ipv6Only: isIpv6,
      recvBufferSize: SOCKET_BUFFER_BYTES,
      sendBufferSize: SOCKET_BUFFER_BYTES,
      // Only addresses are sent to: the resolver would be a detour for each packet.
      lookup: (name, _options, callback) => callback(null, name, isIpv6 ? 6 : 4),
    });
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.bind(0, isIpv6 ? '::' : '0.0.0.0', () => {
          socket.off('error', reject);
          resolve();
        });
      });
    } catch (error) {
      socket.close();
      throw error;
    }
    return new LoopbackSocket(options, socket);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** The packets, perhaps joined, are read before this returns. */
  send(packets: Uint8Array, segment: number, to: Place): void {
    if (this.#isClosed) return;
    this.#count(countOf(packets, segment));
    if (this.#putIntoBatch(packets, segment, to)) return;
    // A copy: what the kernel does not take at once waits in Node.
    for (const packet of partsOf(packets, segment)) this.#socket.send(new Uint8Array(packet), to.port, to.address);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#busy?.signal?.off();
    this.#busy = undefined;
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }

  /** Leaves at the end of the callback that is running: a read of the relay's connection brings many packets. */
  #putIntoBatch(packets: Uint8Array, segment: number, { target }: Place): boolean {
    const busy = this.#busy;
    if (busy === undefined) return false;
    if (!busy.batch.put(packets, target, segment)) {
      busy.batch.send(busy.handle.fd);
      if (!busy.batch.put(packets, target, segment)) return false;
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

  #receive(packet: Uint8Array, { address, port }: RemoteInfo): void {
    const ip = parseIp(address);
    if (ip) this.#options.onPackets(packet, 0, ip, port);
    this.#count(1);
  }

  /** The first signal proves that signals come: only then is Node kept from reading. */
  #arrived(busy: Busy): void {
    if (!busy.isReading) {
      busy.isReading = true;
      busy.handle.recvStop();
      busy.batch.receiveJoined(busy.handle.fd);
      this.#options.log.debug({}, 'Relayed packets go in batches.');
    }
    if (!busy.isHot && this.#drain(busy) >= HOT_DATAGRAMS) this.#stayHot(busy);
  }

  /** Reads what waits. @returns how many datagrams */
  #drain({ batch, handle }: Busy): number {
    let total = 0;
    for (let round = 0; round < MAX_BATCHES && this.#busy; round++) {
      const received = batch.receive(handle.fd);
      for (let slot = 0; slot < received; slot++) {
        const { onPackets } = this.#options;
        onPackets(batch.datagram(slot), batch.segment(slot), batch.sourceAddress(slot), batch.sourcePort(slot));
      }
      total += received;
      if (received < batch.slots) break;
    }
    if (total > 0) this.#options.onDrained();
    return total;
  }

  /** Asks each turn of the event loop until nothing came: a signal for each packet costs more than a call for many. */
  #stayHot(busy: Busy): void {
    busy.isHot = true;
    busy.signal?.off();
    const ask = () => {
      if (this.#busy === undefined) return;
      if (this.#drain(busy) > 0) {
        setImmediate(ask);
        return;
      }
      busy.signal?.on();
      busy.isHot = false;
      // What came before the signal was on is not told.
      if (this.#drain(busy) > 0) this.#stayHot(busy);
    };
    setImmediate(ask);
  }

  #count(packets: number): void {
    if (this.#isAsked) return;
    this.#counted += packets;
    if (this.#counted < BUSY_PACKETS) return;
    const { now, log } = this.#options;
    const began = this.#countedFrom;
    this.#countedFrom = now();
    this.#counted = 0;
    if (this.#countedFrom - began > BUSY_WITHIN_MS) return;
    this.#isAsked = true;
    this.#workInBatches().catch((error: unknown) => log.warn({ err: error }, 'Relayed packets go one by one.'));
  }

  async #workInBatches(): Promise<void> {
    const { log } = this.#options;
    const batch = await openDatagramBatch('joined', (reason) =>
      log.debug({ reason }, 'Relayed packets go one by one.'),
    );
    const handle = udpHandleOf(this.#socket);
    if (batch === undefined || handle === undefined) return;
    const signal = await ArrivalSignal.open(handle.fd, () => this.#arrived(busy));
    const busy: Busy = { batch, handle, signal, isReading: false, isHot: false };
    if (this.#isClosed) return;
    this.#busy = busy;
    signal?.on();
    await loadDirectWrite();
  }
}
