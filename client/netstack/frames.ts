import { formatIp, parseIp } from '../../platform/ip.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';

/**
 * Frames between a process and the userspace stack: length (4 bytes), kind (1), node (4), then the fields of the kind, numbers in
 * little-endian. The other side is native/netstack/frame.go. Pure.
 */
export const FRAME = {
  open: 1,
  close: 2,
  configure: 3,
  address: 4,
  rules: 5,
  datagrams: 6,
  dial: 7,
  listen: 8,
  unlisten: 9,
  data: 10,
  end: 11,
  reset: 12,
  credit: 13,
  ping: 14,
  accepted: 15,
  packet: 16,
  /** Answered by the thread itself, with the port or the system's code: it holds the UDP sockets. */
  bindPort: 32,
  /** Answered by the thread as well: it holds the interfaces. */
  attach: 33,
} as const;
export type FrameKind = (typeof FRAME)[keyof typeof FRAME];

const LENGTH_BYTES = 4;
const HEADER_BYTES = 9;

export interface Frame {
  readonly kind: number;
  readonly node: number;
  readonly fields: FrameReader;
  /** The whole frame. */
  readonly bytes: Uint8Array;
}

/** Returns the frames of a batch, without a copy. */
export function* framesOf(batch: Uint8Array): Generator<Frame> {
  const view = new DataView(batch.buffer, batch.byteOffset, batch.byteLength);
  for (let at = 0; at + HEADER_BYTES <= batch.length; ) {
    const end = at + LENGTH_BYTES + view.getUint32(at, true);
    const fields = new FrameReader(batch.subarray(at + HEADER_BYTES, end));
    yield { kind: view.getUint8(at + 4), node: view.getUint32(at + 5, true), fields, bytes: batch.subarray(at, end) };
    at = end;
  }
}

/** Returns where the last whole frame of these bytes ends. */
export function endOfWhole(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = 0;
  while (end + LENGTH_BYTES <= bytes.length) {
    const next = end + LENGTH_BYTES + view.getUint32(end, true);
    if (next > bytes.length) break;
    end = next;
  }
  return end;
}

/** Reads the fields of a frame, one after the other. */
export class FrameReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u16(): number {
    this.#at += 2;
    return this.#view.getUint16(this.#at - 2, true);
  }

  u32(): number {
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }

  ip(): Uint8Array {
    const length = this.#view.getUint8(this.#at);
    this.#at += 1 + length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  endpoint(): Endpoint {
    return { address: formatIp(this.ip()), port: this.u16() };
  }

  /** Everything that follows, without a copy. */
  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }

  text(): string {
    return Buffer.from(this.rest()).toString();
  }
}

type Field = Uint8Array;

/** Returns a frame of these fields. */
export function frameOf(kind: FrameKind, node: number, ...fields: readonly Field[]): Uint8Array {
  const size = fields.reduce((sum, { length }) => sum + length, HEADER_BYTES);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, size - LENGTH_BYTES, true);
  view.setUint8(4, kind);
  view.setUint32(5, node, true);
  let at = HEADER_BYTES;
  for (const field of fields) {
    bytes.set(field, at);
    at += field.length;
  }
  return bytes;
}

export function u8(value: number): Field {
  return Uint8Array.of(value);
}

export function u16(...values: readonly number[]): Field {
  const bytes = new Uint8Array(values.length * 2);
  const view = new DataView(bytes.buffer);
  for (const [index, value] of values.entries()) view.setUint16(index * 2, value, true);
  return bytes;
}

export function u32(value: number): Field {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

/** @param ip 4 or 16 bytes */
export function ipField(ip: Uint8Array): Field {
  const bytes = new Uint8Array(ip.length + 1);
  bytes[0] = ip.length;
  bytes.set(ip, 1);
  return bytes;
}

/** @throws Error for a text that is no address */
export function addressField(address: string): Field {
  const ip = parseIp(address.split('%')[0] ?? '');
  if (!ip) throw new Error(`${address} is no address.`);
  return ipField(ip);
}
