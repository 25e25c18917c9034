import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import type { Log } from '../../core/ports.ts';
import { type DatagramBatch, openDatagramBatch, type Target, targetOf } from '../../net/datagram-batch.ts';
import { parseIp } from '../../net/stun/address.ts';
import { type UdpHandle, udpHandleOf } from '../../net/udp-handle.ts';
import type { Family } from '../family.ts';

/** WireGuard sends in bursts, and they wait here while a turn of the event loop lasts. The kernel may grant less. */
const SOCKET_BUFFER_BYTES = 8_388_608;
/** Far above WireGuard's packets at the MTU of the overlay, 1280: a longer one is cut, which WireGuard throws away. */
const BATCHED_BYTES = 2_048;
/** Packets a second from which on they are read and written in batches; below, loading koffi would not pay. */
const BUSY_PACKETS = 2_000;
const BUSY_WITHIN_MS = 1_000;
/** So many at once tell that more follow: then they are asked for each turn, instead of waiting for an event. */
const HOT_PACKETS = 8;
/** Batches in one turn of the event loop, so that a flood leaves room for other work. */
const MAX_BATCHES = 4;

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
}

export interface LoopbackSocketOptions {
  readonly family: Family;
  /** Milliseconds; must not jump. */
  readonly now: () => number;
  readonly log: Log;
  /** The packet and the address, 4 or 16 bytes, are valid until the handler returns. */
  readonly onPacket: (packet: Uint8Array, address: Uint8Array, port: number) => void;
}

/** A UDP socket on all addresses of one family. Once it is busy, one system call reads or writes many packets. */
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

  /** The packet is read before this returns. */
  send(packet: Uint8Array, to: Place): void {
    if (this.#isClosed) return;
    this.#count(1);
    if (!this.#putIntoBatch(packet, to)) this.#socket.send(packet, to.port, to.address);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#busy = undefined;
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }

  /** Leaves at the end of the callback that is running: a read of the relay's connection brings many packets. */
  #putIntoBatch(packet: Uint8Array, { target }: Place): boolean {
    const busy = this.#busy;
    if (busy === undefined || packet.length > BATCHED_BYTES) return false;
    if (!busy.batch.put(packet, target)) {
      busy.batch.send(busy.handle.fd);
      busy.batch.put(packet, target);
    }
    if (!this.#isSending) {
      this.#isSending = true;
      queueMicrotask(() => {
        this.#isSending = false;
        if (this.#busy) busy.batch.send(busy.handle.fd);
      });
    }
    return true;
  }

  #receive(packet: Uint8Array, { address, port }: RemoteInfo): void {
    const ip = parseIp(address);
    if (ip) this.#options.onPacket(packet, ip, port);
    this.#count(1);
    if (this.#busy && this.#drain(this.#busy) >= HOT_PACKETS) this.#stayHot(this.#busy);
  }

  /** Reads what waits behind the packet that came as an event. @returns how many packets */
  #drain({ batch, handle }: Busy): number {
    let total = 0;
    for (let round = 0; round < MAX_BATCHES; round++) {
      const received = batch.receive(handle.fd);
      for (let slot = 0; slot < received; slot++) {
        this.#options.onPacket(batch.datagram(slot), batch.sourceAddress(slot), batch.sourcePort(slot));
      }
      total += received;
      if (received < batch.slots || this.#isClosed) break;
    }
    return total;
  }

  /** Asks each turn of the event loop until nothing came: an event for each packet costs more than a call for many. */
  #stayHot(busy: Busy): void {
    busy.handle.recvStop();
    const ask = () => {
      if (this.#busy === undefined) return;
      if (this.#drain(busy) > 0) setImmediate(ask);
      else busy.handle.recvStart();
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
    openDatagramBatch(BATCHED_BYTES, (reason) => log.debug({ reason }, 'Relayed packets go one by one.'), true)
      .then((batch) => {
        const handle = udpHandleOf(this.#socket);
        if (batch === undefined || handle === undefined || this.#isClosed) return;
        this.#busy = { batch, handle };
        log.debug({}, 'Relayed packets go in batches.');
      })
      .catch((error: unknown) => log.warn({ err: error }, 'Relayed packets go one by one.'));
  }
}
