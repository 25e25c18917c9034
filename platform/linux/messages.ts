import type { Koffi } from './libc.ts';
import { writeName } from './sockaddr.ts';

/** The bytes of a `struct sockaddr_in6`, rounded up. */
const NAME_BYTES = 32;
/** struct mmsghdr and struct iovec of 64-bit Linux. */
const HEADER_BYTES = 64;
const IOVEC_BYTES = 16;
const NAME_LENGTH_AT = 8;
const IOVEC_AT = 16;
const IOVEC_COUNT_AT = 24;
const CONTROL_AT = 32;
const CONTROL_LENGTH_AT = 40;
const RECEIVED_AT = 56;
const LENGTH_AT = 8;
/** struct cmsghdr, cmsg(3): with the u16 of UDP_SEGMENT or the int of UDP_GRO, udp(7). Both are 24 bytes with padding. */
const CONTROL_BYTES = 24;
const LEVEL_AT = 8;
const TYPE_AT = 12;
const SEGMENT_AT = 16;
const SEGMENT_CONTROL_LENGTH = 18;
const SOL_UDP = 17;
const UDP_SEGMENT = 103;

/** Messages as recvmmsg and sendmmsg read and write them, and the bytes that they carry. The memory is never given back. */
export class Messages {
  /** Address of the first header. */
  readonly at: bigint;
  readonly data: Uint8Array;
  /** Names of all messages; each begins `NAME_BYTES` behind the one before. */
  readonly names: Uint8Array;
  readonly nameView: DataView;
  /** Headers come first, iovecs behind them, then controls. */
  readonly #view: DataView;
  readonly #count: number;
  readonly #dataAt: bigint;

  constructor(koffi: Koffi, count: number, dataBytes: number) {
    const arena = (bytes: number) => {
      const pointer = koffi.alloc('uint8_t', bytes);
      return { at: koffi.address(pointer), bytes: new Uint8Array(koffi.view(pointer, bytes)) };
    };
    const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength);
    const headers = arena(count * (HEADER_BYTES + IOVEC_BYTES + CONTROL_BYTES));
    const data = arena(dataBytes);
    const names = arena(count * NAME_BYTES);
    this.#count = count;
    this.at = headers.at;
    this.#view = viewOf(headers.bytes);
    this.data = data.bytes;
    this.#dataAt = data.at;
    this.names = names.bytes;
    this.nameView = viewOf(names.bytes);
    for (let message = 0; message < count; message++) {
      const header = message * HEADER_BYTES;
      this.#view.setBigUint64(header, names.at + BigInt(message * NAME_BYTES), true);
      this.#view.setBigUint64(header + IOVEC_AT, headers.at + BigInt(this.#iovecAt(message)), true);
      this.#view.setBigUint64(header + IOVEC_COUNT_AT, 1n, true);
      this.#view.setBigUint64(header + CONTROL_AT, headers.at + BigInt(this.#controlAt(message)), true);
    }
  }

  /** The address of a message's header. */
  addressOf(message: number): bigint {
    return this.at + BigInt(message * HEADER_BYTES);
  }

  nameAt(message: number): number {
    return message * NAME_BYTES;
  }

  /** Where in the data its bytes lie. */
  place(message: number, start: number, length: number): void {
    this.#view.setBigUint64(this.#iovecAt(message), this.#dataAt + BigInt(start), true);
    this.resize(message, length);
  }

  resize(message: number, length: number): void {
    this.#view.setUint32(this.#iovecAt(message) + LENGTH_AT, length, true);
  }

  /** Before it is received: room for a name, and for a control where one is awaited. */
  expect(message: number, hasControl: boolean): void {
    const header = message * HEADER_BYTES;
    this.#view.setUint32(header + NAME_LENGTH_AT, NAME_BYTES, true);
    this.#view.setUint32(header + CONTROL_LENGTH_AT, hasControl ? CONTROL_BYTES : 0, true);
  }

  /** Bytes that were received. */
  received(message: number): number {
    return this.#view.getUint32(message * HEADER_BYTES + RECEIVED_AT, true);
  }

  /** The segment that came with it. */
  receivedSegment(message: number): number {
    const hasControl = this.#view.getUint32(message * HEADER_BYTES + CONTROL_LENGTH_AT, true) > 0;
    return hasControl ? this.#view.getInt32(this.#controlAt(message) + SEGMENT_AT, true) : 0;
  }

  /** Where it is sent to, as one datagram. */
  address(message: number, ip: Uint8Array, port: number): void {
    this.#address(message, writeName(this.names, this.nameView, this.nameAt(message), ip, port));
  }

  /** The same by a name of the system, a `struct sockaddr`. */
  name(message: number, name: Uint8Array): void {
    this.names.set(name, this.nameAt(message));
    this.#address(message, name.length);
  }

  /** It is sent as datagrams of this length. */
  cut(message: number, segment: number): void {
    const control = this.#controlAt(message);
    this.#view.setUint32(message * HEADER_BYTES + CONTROL_LENGTH_AT, CONTROL_BYTES, true);
    this.#view.setBigUint64(control, BigInt(SEGMENT_CONTROL_LENGTH), true);
    this.#view.setInt32(control + LEVEL_AT, SOL_UDP, true);
    this.#view.setInt32(control + TYPE_AT, UDP_SEGMENT, true);
    this.#view.setUint16(control + SEGMENT_AT, segment, true);
  }

  isCut(message: number): boolean {
    return this.#view.getUint32(message * HEADER_BYTES + CONTROL_LENGTH_AT, true) > 0;
  }

  #address(message: number, nameBytes: number): void {
    this.#view.setUint32(message * HEADER_BYTES + NAME_LENGTH_AT, nameBytes, true);
    this.#view.setUint32(message * HEADER_BYTES + CONTROL_LENGTH_AT, 0, true);
  }

  #iovecAt(message: number): number {
    return this.#count * HEADER_BYTES + message * IOVEC_BYTES;
  }

  #controlAt(message: number): number {
    return this.#count * (HEADER_BYTES + IOVEC_BYTES) + message * CONTROL_BYTES;
  }
}
