import type { SocketAddress } from '../datagrams.ts';
import { countOf, MAX_COALESCED, partsOf } from '../segments.ts';
import { type Koffi, loadKoffi } from './libc.ts';
import { Messages } from './messages.ts';
import { ReceiveSlots, Source } from './receive-slots.ts';

/** Messages in one system call. */
const SLOTS = 64;
/** Fewer slots, as datagrams that may be coalesced are up to 64 KiB each. */
const COALESCED_SLOTS = 16;
const COALESCED_SLOT_BYTES = 65_536;
/** The most bytes that wait to be sent, where datagrams may be coalesced. */
const COALESCED_DATA_BYTES = 262_144;
/** The most bytes of UDP in one packet of IPv4; IPv6 carries a little more. */
const MAX_MESSAGE_BYTES = 65_507;
const SOL_UDP = 17;
const UDP_GRO = 104;
const MSG_DONTWAIT = 0x40;
const EIO = 5;
const EAGAIN = 11;
const EINVAL = 22;

/**
 * Many datagrams of a UDP socket with one system call each way (recvmmsg, sendmmsg), through the optional package koffi.
 *
 * @param maxBytes longer datagrams are cut when received and refused when sent; `coalesced`, for traffic within this host alone:
 *   datagrams of one length to one target pass the kernel as one message. Not every network card could cut it.
 * @returns undefined, with the reason told, where the package is missing
 */
export async function openDatagramBatch(
  maxBytes: number | 'coalesced',
  onMissing: (reason: string) => void,
): Promise<DatagramBatch | undefined> {
  const koffi = await loadKoffi(onMissing);
  return koffi && new DatagramBatch(koffi, maxBytes);
}

/** Slots for received datagrams, and room for those that wait to be sent. Its memory stays for as long as the process. */
export class DatagramBatch {
  /** The most messages that one call receives. */
  readonly slots: number;
  /** Messages that wait to be sent at most: as many, and an answer to one that was read otherwise. */
  readonly capacity: number;
  readonly #koffi: Koffi;
  readonly #receive: (fd: number, messages: bigint, count: number, flags: number, timeout: null) => number;
  readonly #send: (fd: number, messages: bigint, count: number, flags: number) => number;
  readonly #setOption: (fd: number, level: number, option: number, value: Int32Array, length: number) => number;
  readonly #maxBytes: number;
  readonly #incoming: ReceiveSlots;
  readonly #outgoing: Messages;
  /** Messages and bytes that wait to be sent. */
  #queued = 0;
  #filled = 0;
  #isCoalescing: boolean;
  /** The last message, while more can join it. */
  #last: { readonly to: SocketAddress; readonly segment: number; count: number; bytes: number } | undefined;

  constructor(koffi: Koffi, maxBytes: number | 'coalesced') {
    const libc = koffi.load(null);
    this.#koffi = koffi;
    this.#receive = libc.func('int recvmmsg(int, void *, unsigned int, int, void *)');
    this.#send = libc.func('int sendmmsg(int, void *, unsigned int, int)');
    this.#setOption = libc.func('int setsockopt(int, int, int, void *, unsigned int)');
    this.#isCoalescing = maxBytes === 'coalesced';
    this.#maxBytes = maxBytes === 'coalesced' ? MAX_MESSAGE_BYTES : maxBytes;
    this.slots = maxBytes === 'coalesced' ? COALESCED_SLOTS : SLOTS;
    this.capacity = SLOTS + 1;
    const sendBytes = maxBytes === 'coalesced' ? COALESCED_DATA_BYTES : this.capacity * maxBytes;
    this.#incoming = new ReceiveSlots(koffi, this.slots, maxBytes === 'coalesced' ? COALESCED_SLOT_BYTES : maxBytes);
    this.#outgoing = new Messages(koffi, this.capacity, sendBytes);
  }

  /** From now on datagrams that were sent coalesced arrive coalesced (UDP_GRO). An older kernel refuses: they arrive apart. */
  receiveCoalesced(fd: number): void {
    if (this.#setOption(fd, SOL_UDP, UDP_GRO, Int32Array.of(1), 4) === 0) this.#incoming.awaitSegments();
  }

  /** Reads what waits at a socket, without blocking. @returns the number of slots filled; 0 when there is nothing */
  receive(fd: number): number {
    const incoming = this.#incoming;
    incoming.prepare();
    incoming.used = Math.max(0, this.#receive(fd, incoming.messages.at, this.slots, MSG_DONTWAIT, null));
    return incoming.used;
  }

  /** Returns the datagram in a slot, perhaps coalesced; valid until the next `receive`. */
  datagram(slot: number): Uint8Array {
    return this.#incoming.bytesOf(slot);
  }

  /** Returns the segment size of coalesced datagrams; 0 for a single one. */
  segment(slot: number): number {
    const segment = this.#incoming.messages.receivedSegment(slot);
    return segment < this.#incoming.messages.received(slot) ? segment : 0;
  }

  /** Where it came from; until the next `receive`. */
  source(slot: number): Source {
    return this.#incoming.sourceOf(slot);
  }

  /**
   * Copies a datagram, or coalesced ones, to leave with the next `send`. Those that follow each other join by the identity of
   * their place. @returns false when it is too long, there is no room, or its place has a zone
   */
  put(bytes: Uint8Array, to: SocketAddress, segment = 0): boolean {
    const { length } = bytes;
    if (hasZone(to)) return false;
    if (segment > 0 && (!this.#isCoalescing || length > MAX_MESSAGE_BYTES || countOf(bytes, segment) > MAX_COALESCED)) {
      return this.#putApart(bytes, to, segment);
    }
    const { data } = this.#outgoing;
    if (length > this.#maxBytes || this.#filled + length > data.length) return false;
    const isAppended = segment === 0 && this.#coalesce(length, to);
    if (!isAppended && this.#queued === this.capacity) return false;
    data.set(bytes, this.#filled);
    if (!isAppended) this.#begin(length, to, segment);
    this.#filled += length;
    return true;
  }

  /** Sends what was put. One that cannot be sent is left out; a full socket loses the rest. */
  send(fd: number): void {
    const outgoing = this.#outgoing;
    const count = this.#queued;
    this.clear();
    for (let at = 0; at < count; ) {
      const sent = this.#send(fd, outgoing.addressOf(at), count - at, MSG_DONTWAIT);
      const error = sent < 0 ? this.#koffi.errno() : 0;
      if (error === EAGAIN) return;
      // A kernel that cuts no messages loses this one alone.
      if ((error === EIO || error === EINVAL) && outgoing.isCut(at)) this.#isCoalescing = false;
      at += Math.max(1, sent);
    }
  }

  /** Forgets what was put. */
  clear(): void {
    this.#queued = 0;
    this.#filled = 0;
    this.#last = undefined;
  }

  #putApart(bytes: Uint8Array, to: SocketAddress, segment: number): boolean {
    if (this.#queued + countOf(bytes, segment) > this.capacity) return false;
    if (this.#filled + bytes.length > this.#outgoing.data.length) return false;
    for (const part of partsOf(bytes, segment)) if (!this.put(part, to)) return false;
    return true;
  }

  /** A message of its own, which others may join when it is one datagram. */
  #begin(length: number, to: SocketAddress, segment: number): void {
    const message = this.#queued++;
    this.#outgoing.place(message, this.#filled, length);
    if (to instanceof Source) this.#outgoing.name(message, to.name);
    else this.#outgoing.address(message, to.ip, to.port);
    if (segment > 0) this.#outgoing.cut(message, segment);
    const isOpen = this.#isCoalescing && segment === 0 && length > 0;
    this.#last = isOpen ? { to, segment: length, count: 1, bytes: length } : undefined;
  }

  /** All datagrams of a message are of one length, but the last may be shorter. */
  #coalesce(length: number, to: SocketAddress): boolean {
    const last = this.#last;
    if (last?.to !== to || length === 0 || length > last.segment) return false;
    if (last.count === MAX_COALESCED || last.bytes + length > MAX_MESSAGE_BYTES) return false;
    last.count += 1;
    last.bytes += length;
    this.#outgoing.resize(this.#queued - 1, last.bytes);
    this.#outgoing.cut(this.#queued - 1, last.segment);
    if (length < last.segment) this.#last = undefined;
    return true;
  }
}

/** A name of the system has the number of the zone; here there is its text alone. */
function hasZone(to: SocketAddress): boolean {
  return to.ip.length === 16 && !(to instanceof Source) && to.address.includes('%');
}
