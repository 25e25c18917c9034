import type { SocketAddress } from '../datagrams.ts';
import { formatIp } from '../ip.ts';
import type { Koffi } from './libc.ts';
import { Messages } from './messages.ts';
import { PORT_AT, SOCKADDR_IN, SOCKADDR_IN6 } from './sockaddr.ts';

type Kind = typeof SOCKADDR_IN | typeof SOCKADDR_IN6;

/** Where the datagram of a slot came from, read from the memory that the system wrote. */
export class Source implements SocketAddress {
  /** As the system names it: a `struct sockaddr`. */
  readonly name: Uint8Array;
  readonly ip: Uint8Array;
  readonly #view: DataView;

  constructor(names: Uint8Array, at: number, kind: Kind) {
    this.name = names.subarray(at, at + kind.bytes);
    this.ip = this.name.subarray(kind.addressAt, kind.addressAt + kind.addressBytes);
    this.#view = new DataView(this.name.buffer, this.name.byteOffset, kind.bytes);
  }

  get port(): number {
    return this.#view.getUint16(PORT_AT);
  }

  get address(): string {
    return formatIp(this.ip);
  }
}

/** Slots that the system fills. */
export class ReceiveSlots {
  readonly messages: Messages;
  /** Slots whose lengths the system has written over. */
  used: number;
  readonly #slotBytes: number;
  #hasSegments = false;
  /** Made once for each slot: nearly every datagram is as long as the one before it in its slot. */
  readonly #bytes: Uint8Array[];
  readonly #ipv4: readonly Source[];
  readonly #ipv6: readonly Source[];

  constructor(koffi: Koffi, count: number, slotBytes: number) {
    const messages = new Messages(koffi, count, count * slotBytes);
    const slots = Array.from({ length: count }, (_, slot) => slot);
    const sourcesOf = (kind: Kind) => slots.map((slot) => new Source(messages.names, messages.nameAt(slot), kind));
    for (const slot of slots) messages.place(slot, slot * slotBytes, slotBytes);
    this.messages = messages;
    this.used = count;
    this.#slotBytes = slotBytes;
    this.#bytes = slots.map((slot) => messages.data.subarray(slot * slotBytes, (slot + 1) * slotBytes));
    this.#ipv4 = sourcesOf(SOCKADDR_IN);
    this.#ipv6 = sourcesOf(SOCKADDR_IN6);
  }

  awaitSegments(): void {
    this.#hasSegments = true;
    this.used = this.#bytes.length;
  }

  prepare(): void {
    for (let slot = 0; slot < this.used; slot++) this.messages.expect(slot, this.#hasSegments);
  }

  bytesOf(slot: number): Uint8Array {
    const length = this.messages.received(slot);
    const before = this.#bytes[slot];
    if (before?.length === length) return before;
    const start = slot * this.#slotBytes;
    const bytes = this.messages.data.subarray(start, start + length);
    this.#bytes[slot] = bytes;
    return bytes;
  }

  sourceOf(slot: number): Source {
    const family = this.messages.nameView.getUint16(this.messages.nameAt(slot), true);
    const source = (family === SOCKADDR_IN.family ? this.#ipv4 : this.#ipv6)[slot];
    if (source === undefined) throw new RangeError(`There is no slot ${slot}.`);
    return source;
  }
}
