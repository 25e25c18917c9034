import { Messages } from './messages.ts';
import { PORT_AT, SOCKADDR_IN, SOCKADDR_IN6, type Target } from './sockaddr.ts';

type Koffi = typeof import('koffi').default;

/** Where a datagram came from. */
interface Name {
  readonly target: Target;
  readonly ip: Uint8Array;
}

/** Slots that the system fills. */
export class Incoming {
  readonly messages: Messages;
  /** Slots whose lengths the system has written over. */
  used: number;
  readonly #slotBytes: number;
  #hasSegments = false;
  /** Made once for each slot: nearly every datagram is as long as the one before it in its slot. */
  readonly #bytes: Uint8Array[];
  readonly #ipv4: readonly Name[];
  readonly #ipv6: readonly Name[];

  constructor(koffi: Koffi, count: number, slotBytes: number) {
    const messages = new Messages(koffi, count, count * slotBytes);
    const slots = Array.from({ length: count }, (_, slot) => slot);
    const namesOf = (kind: typeof SOCKADDR_IN | typeof SOCKADDR_IN6) =>
      slots.map((slot) => {
        const target = messages.names.subarray(messages.nameAt(slot), messages.nameAt(slot) + kind.bytes);
        return { target, ip: target.subarray(kind.addressAt, kind.addressAt + kind.addressBytes) };
      });
    for (const slot of slots) messages.place(slot, slot * slotBytes, slotBytes);
    this.messages = messages;
    this.used = count;
    this.#slotBytes = slotBytes;
    this.#bytes = slots.map((slot) => messages.data.subarray(slot * slotBytes, (slot + 1) * slotBytes));
    this.#ipv4 = namesOf(SOCKADDR_IN);
    this.#ipv6 = namesOf(SOCKADDR_IN6);
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

  portOf(slot: number): number {
    return this.messages.nameView.getUint16(this.messages.nameAt(slot) + PORT_AT);
  }

  nameOf(slot: number): Name {
    const family = this.messages.nameView.getUint16(this.messages.nameAt(slot), true);
    const name = (family === SOCKADDR_IN.family ? this.#ipv4 : this.#ipv6)[slot];
    if (name === undefined) throw new RangeError(`There is no slot ${slot}.`);
    return name;
  }
}
