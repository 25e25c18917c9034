import { arch, platform } from 'node:process';

/** Datagrams in one system call. */
const SLOTS = 64;
const SOCKADDR_BYTES = 32;
/** struct mmsghdr, struct iovec, struct sockaddr_in and sockaddr_in6 of 64-bit Linux. */
const MMSGHDR_BYTES = 64;
const IOVEC_BYTES = 16;
const NAMELEN_AT = 8;
const MSG_LEN_AT = 56;
const IOV_LEN_AT = 8;
const SOCKADDR_IN = { family: 2, bytes: 16, addressAt: 4, addressBytes: 4 } as const;
const SOCKADDR_IN6 = { family: 10, bytes: 28, addressAt: 8, addressBytes: 16 } as const;
/** struct cmsghdr of UDP_SEGMENT, udp(7), and where a message names it. */
const CMSG_BYTES = 24;
const CMSG_LEN = 18;
const CMSG_LEVEL_AT = 8;
const CMSG_TYPE_AT = 12;
const CMSG_SEGMENT_AT = 16;
const SOL_UDP = 17;
const UDP_SEGMENT = 103;
const IOV_AT = 16;
const IOVLEN_AT = 24;
const CONTROL_AT = 32;
const CONTROLLEN_AT = 40;
/** A little less than IP carries in one packet, headers included. */
const MAX_MESSAGE_BYTES = 65_000;
const MSG_DONTWAIT = 0x40;
const EAGAIN = 11;

type Koffi = typeof import('koffi').default;

/** Where a datagram goes, as the system names it: a `struct sockaddr`. */
export type Target = Uint8Array;

/** @param ip 4 or 16 bytes */
export function targetOf(ip: Uint8Array, port: number): Target {
  const kind = ip.length === SOCKADDR_IN.addressBytes ? SOCKADDR_IN : SOCKADDR_IN6;
  const target = new Uint8Array(kind.bytes);
  const view = new DataView(target.buffer);
  view.setUint16(0, kind.family, true);
  view.setUint16(2, port);
  target.set(ip, kind.addressAt);
  return target;
}

/**
 * Many datagrams of a UDP socket with one system call each way (recvmmsg, sendmmsg), through the optional package koffi.
 *
 * @param maxBytes longer datagrams are cut when received and refused when sent
 * @param isJoining for targets on this host: datagrams of one length to one target pass the kernel as one message, which it
 *   cuts where they arrive (UDP_SEGMENT). Not every network card can.
 * @returns undefined, with the reason told, where the package or the platform is missing
 */
export async function openDatagramBatch(
  maxBytes: number,
  onMissing: (reason: string) => void,
  isJoining = false,
): Promise<DatagramBatch | undefined> {
  if (platform !== 'linux' || (arch !== 'x64' && arch !== 'arm64')) {
    onMissing(`${platform} on ${arch} has none`);
    return undefined;
  }
  try {
    return new DatagramBatch((await import('koffi')).default, maxBytes, isJoining);
  } catch (error) {
    onMissing(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/** Slots for received datagrams, and slots for those that wait to be sent. Its memory stays for as long as the process. */
export class DatagramBatch {
  /** Datagrams that one call receives at most. */
  readonly slots = SLOTS;
  /** Datagrams that wait to be sent at most: as many, and an answer to one that was read otherwise. */
  readonly capacity = SLOTS + 1;
  readonly #koffi: Koffi;
  readonly #receive: (fd: number, messages: bigint, count: number, flags: number, timeout: null) => number;
  readonly #send: (fd: number, messages: bigint, count: number, flags: number) => number;
  readonly #incoming: Slots;
  readonly #outgoing: Slots;
  /** Incoming slots whose length of the source the system has written over. */
  #used = SLOTS;
  /** Datagrams and messages that wait to be sent; without joining as many. */
  #queued = 0;
  #messages = 0;
  #isJoining: boolean;
  /** The last message, while more can join it. */
  #last: { readonly target: Target; readonly segment: number; segments: number; bytes: number } | undefined;

  constructor(koffi: Koffi, maxBytes: number, isJoining = false) {
    this.#isJoining = isJoining;
    const libc = koffi.load(null);
    this.#koffi = koffi;
    this.#receive = libc.func('int recvmmsg(int, void *, unsigned int, int, void *)');
    this.#send = libc.func('int sendmmsg(int, void *, unsigned int, int)');
    this.#incoming = new Slots(koffi, SLOTS, maxBytes);
    this.#outgoing = new Slots(koffi, this.capacity, maxBytes);
  }

  /** Reads what waits at a socket, without blocking. @returns the number of slots filled; 0 when there is nothing */
  receive(fd: number): number {
    const { headers, view } = this.#incoming;
    for (let slot = 0; slot < this.#used; slot++) {
      view.setUint32(slot * MMSGHDR_BYTES + NAMELEN_AT, SOCKADDR_BYTES, true);
    }
    this.#used = Math.max(0, this.#receive(fd, headers, SLOTS, MSG_DONTWAIT, null));
    return this.#used;
  }

  /** What a slot received; until the next `receive`. */
  datagram(slot: number): Uint8Array {
    return this.#incoming.bytesOf(slot, this.#incoming.view.getUint32(slot * MMSGHDR_BYTES + MSG_LEN_AT, true));
  }

  /** Where it came from; until the next `receive`. */
  source(slot: number): Target {
    return this.#incoming.nameOf(slot).target;
  }

  /** The address it came from, 4 or 16 bytes; until the next `receive`. */
  sourceAddress(slot: number): Uint8Array {
    return this.#incoming.nameOf(slot).ip;
  }

  sourcePort(slot: number): number {
    return this.#incoming.nameView.getUint16(slot * SOCKADDR_BYTES + 2);
  }

  /**
   * Copies a datagram into a slot, to leave with the next `send`. Those that follow each other join by the identity of their
   * target. @returns false when it is too long or all slots are taken
   */
  put(bytes: Uint8Array, target: Target): boolean {
    const { view, data, maxBytes } = this.#outgoing;
    if (this.#queued === this.capacity || bytes.length > maxBytes) return false;
    const slot = this.#queued++;
    data.set(bytes, slot * maxBytes);
    view.setUint32(this.#outgoing.iovecAt(slot) + IOV_LEN_AT, bytes.length, true);
    if (!this.#join(bytes.length, target)) this.#begin(slot, bytes.length, target);
    return true;
  }

  /** Sends what was put. One that cannot be sent is left out; a full socket loses the rest. */
  send(fd: number): void {
    const count = this.#messages;
    this.#queued = 0;
    this.#messages = 0;
    this.#last = undefined;
    for (let at = 0; at < count; ) {
      const sent = this.#send(fd, this.#outgoing.headers + BigInt(at * MMSGHDR_BYTES), count - at, MSG_DONTWAIT);
      if (sent < 0 && this.#koffi.errno() === EAGAIN) return;
      // A kernel that cuts no messages loses this one alone.
      if (sent < 0 && this.#outgoing.view.getUint32(at * MMSGHDR_BYTES + CONTROLLEN_AT, true) > 0)
        this.#isJoining = false;
      at += Math.max(1, sent);
    }
  }

  /** A message of its own, which others may join. */
  #begin(slot: number, length: number, target: Target): void {
    const { view, names } = this.#outgoing;
    const message = this.#messages++;
    const header = message * MMSGHDR_BYTES;
    names.set(target, message * SOCKADDR_BYTES);
    view.setUint32(header + NAMELEN_AT, target.length, true);
    view.setBigUint64(header + IOV_AT, this.#outgoing.headers + BigInt(this.#outgoing.iovecAt(slot)), true);
    view.setUint32(header + IOVLEN_AT, 1, true);
    view.setUint32(header + CONTROLLEN_AT, 0, true);
    this.#last = this.#isJoining && length > 0 ? { target, segment: length, segments: 1, bytes: length } : undefined;
  }

  /** All segments of a message are of one length, but the last may be shorter. */
  #join(length: number, target: Target): boolean {
    const last = this.#last;
    if (last?.target !== target || length === 0 || length > last.segment) return false;
    if (last.bytes + length > MAX_MESSAGE_BYTES) return false;
    const { view } = this.#outgoing;
    const message = this.#messages - 1;
    last.segments += 1;
    last.bytes += length;
    view.setUint32(message * MMSGHDR_BYTES + IOVLEN_AT, last.segments, true);
    view.setUint32(message * MMSGHDR_BYTES + CONTROLLEN_AT, CMSG_BYTES, true);
    view.setUint16(this.#outgoing.controlAt(message) + CMSG_SEGMENT_AT, last.segment, true);
    if (length < last.segment) this.#last = undefined;
    return true;
  }
}

/** Where a datagram came from. */
interface Name {
  readonly target: Target;
  readonly ip: Uint8Array;
}

/** Headers, data and names of datagrams in memory that the system reads and writes. */
class Slots {
  readonly maxBytes: number;
  /** Address of the first `struct mmsghdr`. */
  readonly headers: bigint;
  /** Headers come first, iovecs behind them, then controls. */
  readonly view: DataView;
  readonly data: Uint8Array;
  readonly names: Uint8Array;
  readonly nameView: DataView;
  readonly #count: number;
  /** Made once for each slot: nearly every datagram is as long as the one before it in its slot. */
  readonly #bytes: Uint8Array[];
  readonly #ipv4: readonly Name[];
  readonly #ipv6: readonly Name[];

  constructor(koffi: Koffi, count: number, maxBytes: number) {
    const arena = (bytes: number) => {
      const pointer = koffi.alloc('uint8_t', bytes);
      return { at: koffi.address(pointer), bytes: new Uint8Array(koffi.view(pointer, bytes)) };
    };
    const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength);
    const headers = arena(count * (MMSGHDR_BYTES + IOVEC_BYTES + CMSG_BYTES));
    const data = arena(count * maxBytes);
    const names = arena(count * SOCKADDR_BYTES);
    this.#count = count;
    this.maxBytes = maxBytes;
    this.headers = headers.at;
    this.view = viewOf(headers.bytes);
    this.data = data.bytes;
    this.names = names.bytes;
    this.nameView = viewOf(names.bytes);
    for (let slot = 0; slot < count; slot++) {
      const header = slot * MMSGHDR_BYTES;
      const iovec = this.iovecAt(slot);
      this.view.setBigUint64(iovec, data.at + BigInt(slot * maxBytes), true);
      this.view.setBigUint64(iovec + IOV_LEN_AT, BigInt(maxBytes), true);
      this.view.setBigUint64(header, names.at + BigInt(slot * SOCKADDR_BYTES), true);
      this.view.setBigUint64(header + IOV_AT, this.headers + BigInt(iovec), true);
      this.view.setBigUint64(header + IOVLEN_AT, 1n, true);
      const control = this.controlAt(slot);
      this.view.setBigUint64(header + CONTROL_AT, this.headers + BigInt(control), true);
      this.view.setBigUint64(control, BigInt(CMSG_LEN), true);
      this.view.setInt32(control + CMSG_LEVEL_AT, SOL_UDP, true);
      this.view.setInt32(control + CMSG_TYPE_AT, UDP_SEGMENT, true);
    }
    const slots = Array.from({ length: count }, (_, slot) => slot);
    const namesOf = (kind: typeof SOCKADDR_IN | typeof SOCKADDR_IN6) =>
      slots.map((slot) => {
        const target = this.names.subarray(slot * SOCKADDR_BYTES, slot * SOCKADDR_BYTES + kind.bytes);
        return { target, ip: target.subarray(kind.addressAt, kind.addressAt + kind.addressBytes) };
      });
    this.#bytes = slots.map((slot) => this.data.subarray(slot * maxBytes, (slot + 1) * maxBytes));
    this.#ipv4 = namesOf(SOCKADDR_IN);
    this.#ipv6 = namesOf(SOCKADDR_IN6);
  }

  iovecAt(slot: number): number {
    return this.#count * MMSGHDR_BYTES + slot * IOVEC_BYTES;
  }

  controlAt(slot: number): number {
    return this.#count * (MMSGHDR_BYTES + IOVEC_BYTES) + slot * CMSG_BYTES;
  }

  bytesOf(slot: number, length: number): Uint8Array {
    const before = this.#bytes[slot];
    if (before?.length === length) return before;
    const bytes = this.data.subarray(slot * this.maxBytes, slot * this.maxBytes + length);
    this.#bytes[slot] = bytes;
    return bytes;
  }

  nameOf(slot: number): Name {
    const isIpv4 = this.nameView.getUint16(slot * SOCKADDR_BYTES, true) === SOCKADDR_IN.family;
    const name = (isIpv4 ? this.#ipv4 : this.#ipv6)[slot];
    if (name === undefined) throw new RangeError(`There is no slot ${slot}.`);
    return name;
  }
}
