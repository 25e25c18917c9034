import { createHmac, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** RFC 8489 section 5. */
export const MAGIC_COOKIE = 0x2112a442;
export const HEADER_BYTES = 20;
export const TRANSACTION_ID_BYTES = 12;
export const TRANSACTION_ID_AT = HEADER_BYTES - TRANSACTION_ID_BYTES;
const BINDING_REQUEST = 0x0001;
/** RFC 8489 section 14: below this a receiver must know the attribute. */
export const OPTIONAL_FROM = 0x8000;
export const BINDING = 0x001;

/** RFC 8489 section 18.3 and RFC 8445 section 16.1: those that are used here. */
export const ATTRIBUTES = {
  username: 0x0006,
  messageIntegrity: 0x0008,
  errorCode: 0x0009,
  unknownAttributes: 0x000a,
  xorMappedAddress: 0x0020,
  priority: 0x0024,
  useCandidate: 0x0025,
  software: 0x8022,
  fingerprint: 0x8028,
  iceControlled: 0x8029,
  iceControlling: 0x802a,
  /** Private to Mesh, and optional: a receiver that does not know them ignores them. */
  fill: 0xc36d,
  lossCause: 0xc36e,
  onlyPath: 0xc36f,
} as const;

type StunClass = 'request' | 'indication' | 'success' | 'error';

export interface StunAttribute {
  readonly type: number;
  readonly value: Uint8Array;
}

export interface StunMessage {
  readonly class: StunClass;
  readonly method: number;
  readonly transactionId: Uint8Array;
  /** In order, unknown ones too. Those behind MESSAGE-INTEGRITY are not protected by it. */
  readonly attributes: readonly StunAttribute[];
}

const CLASSES = ['request', 'indication', 'success', 'error'] as const;
const INTEGRITY_BYTES = 20;
/** RFC 8489 section 14.7. */
const FINGERPRINT_XOR = 0x5354554e;

/** Undefined for anything that is no well-formed message. Values are copies. */
export function decodeStun(bytes: Uint8Array): StunMessage | undefined {
  const view = messageView(bytes);
  if (view === undefined) return undefined;
  const type = view.getUint16(0);
  const attributes: StunAttribute[] = [];
  for (let at = HEADER_BYTES; at < bytes.length; ) {
    const end = attributeEnd(view, at);
    if (end === undefined) return undefined;
    attributes.push({
      type: view.getUint16(at),
      value: Uint8Array.from(bytes.subarray(at + 4, at + 4 + view.getUint16(at + 2))),
    });
    at = end;
  }
  return {
    class: CLASSES[((type >> 7) & 2) | ((type >> 4) & 1)] ?? 'request',
    method: (type & 0xf) | ((type & 0xe0) >> 1) | ((type & 0x3e00) >> 2),
    transactionId: Uint8Array.from(transactionIdOf(bytes)),
    attributes,
  };
}

/** With `integrityKey` MESSAGE-INTEGRITY is added, with `fingerprint` FINGERPRINT behind it. */
export function encodeStun(
  message: StunMessage,
  { integrityKey, fingerprint = false }: { integrityKey?: Uint8Array; fingerprint?: boolean } = {},
): Uint8Array {
  let length = 0;
  for (const { value } of message.attributes) length += 4 + padded(value.length);
  const tail = (integrityKey ? 4 + INTEGRITY_BYTES : 0) + (fingerprint ? 8 : 0);
  const bytes = new Uint8Array(HEADER_BYTES + length + tail);
  const view = new DataView(bytes.buffer);
  const classBits = CLASSES.indexOf(message.class);
  const { method } = message;
  const methodBits = (method & 0xf) | ((method & 0x70) << 1) | ((method & 0xf80) << 2);
  // The length is set anew below, each time that more is in.
  writeHeader(view, methodBits | ((classBits & 1) << 4) | ((classBits & 2) << 7), 0);
  bytes.set(message.transactionId, TRANSACTION_ID_AT);
  let at = HEADER_BYTES;
  for (const { type, value } of message.attributes) {
    writeAttributeHeader(view, at, type, value.length);
    bytes.set(value, at + 4);
    at += 4 + padded(value.length);
  }
  // Each of the two is computed with the length as it is once that attribute is in.
  if (integrityKey) {
    view.setUint16(2, at + 4 + INTEGRITY_BYTES - HEADER_BYTES);
    writeAttributeHeader(view, at, ATTRIBUTES.messageIntegrity, INTEGRITY_BYTES);
    bytes.set(createHmac('sha1', integrityKey).update(bytes.subarray(0, at)).digest(), at + 4);
    at += 4 + INTEGRITY_BYTES;
  }
  view.setUint16(2, HEADER_BYTES + length + tail - HEADER_BYTES);
  if (fingerprint) {
    writeAttributeHeader(view, at, ATTRIBUTES.fingerprint, 4);
    view.setUint32(at + 4, (crc32(bytes.subarray(0, at)) ^ FINGERPRINT_XOR) >>> 0);
  }
  return bytes;
}

/** True if the received bytes carry a MESSAGE-INTEGRITY of this key; checked on the bytes as they came. */
export function hasIntegrity(bytes: Uint8Array, key: Uint8Array): boolean {
  const at = find(bytes, ATTRIBUTES.messageIntegrity, INTEGRITY_BYTES);
  if (at === undefined) return false;
  const head = Uint8Array.from(bytes.subarray(0, at));
  new DataView(head.buffer).setUint16(2, at + 4 + INTEGRITY_BYTES - HEADER_BYTES);
  const expected = createHmac('sha1', key).update(head).digest();
  return timingSafeEqual(expected, bytes.subarray(at + 4, at + 4 + INTEGRITY_BYTES));
}

/** `absent`, or whether the FINGERPRINT is the last attribute and right. */
export function checkFingerprint(bytes: Uint8Array): 'absent' | 'right' | 'wrong' {
  const at = find(bytes, ATTRIBUTES.fingerprint);
  if (at === undefined) return 'absent';
  if (at + 8 !== bytes.length) return 'wrong';
  const given = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at + 4);
  return given === (crc32(bytes.subarray(0, at)) ^ FINGERPRINT_XOR) >>> 0 ? 'right' : 'wrong';
}

/** Type, length of the attributes and cookie; the transaction id follows. */
export function writeHeader(view: DataView, type: number, length: number): void {
  view.setUint16(0, type);
  view.setUint16(2, length);
  view.setUint32(4, MAGIC_COOKIE);
}

export function writeAttributeHeader(view: DataView, at: number, type: number, length: number): void {
  view.setUint16(at, type);
  view.setUint16(at + 2, length);
}

/** A view into a message. */
export function transactionIdOf(message: Uint8Array): Uint8Array {
  return message.subarray(TRANSACTION_ID_AT, HEADER_BYTES);
}

/** True if a message asks for its address; allocates nothing. */
export function isBindingRequest(message: Uint8Array): boolean {
  return uint16(message, 0) === BINDING_REQUEST;
}

/**
 * Attributes that must be understood and are not, `max` of them; undefined when one reaches beyond the message, or
 * FINGERPRINT is wrong.
 */
export function unknownAttributes(
  bytes: Uint8Array,
  known: ReadonlySet<number>,
  max: number,
): readonly number[] | undefined {
  // Most requests have none: no object is made for those.
  if (bytes.length === HEADER_BYTES) return NONE;
  const view = messageView(bytes);
  if (view === undefined) return undefined;
  const unknown: number[] = [];
  for (let at = HEADER_BYTES; at < bytes.length; ) {
    const end = attributeEnd(view, at);
    if (end === undefined) return undefined;
    const type = view.getUint16(at);
    if (type < OPTIONAL_FROM && !known.has(type) && unknown.length < max) unknown.push(type);
    at = end;
  }
  return checkFingerprint(bytes) === 'wrong' ? undefined : unknown;
}

const NONE: readonly number[] = [];

/** The value of ERROR-CODE (RFC 8489 section 14.8). */
export function encodeErrorCode(code: number, reason = ''): Uint8Array {
  return Buffer.concat([Uint8Array.of(0, 0, Math.floor(code / 100), code % 100), Buffer.from(reason)]);
}

/** The code alone; undefined when it is none. */
export function decodeErrorCode(value: Uint8Array): number | undefined {
  const [, , hundreds, rest] = value;
  return hundreds === undefined || rest === undefined ? undefined : hundreds * 100 + rest;
}

/** The value of UNKNOWN-ATTRIBUTES (RFC 8489 section 14.9). */
export function encodeUnknownAttributes(types: readonly number[]): Uint8Array {
  const list = new Uint8Array(types.length * 2);
  const view = new DataView(list.buffer);
  types.forEach((type, n) => {
    view.setUint16(n * 2, type);
  });
  return list;
}

/** A view of a datagram whose header is that of a whole STUN message. */
function messageView(bytes: Uint8Array): DataView | undefined {
  return isMessage(bytes) ? new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) : undefined;
}

/** True if the header is that of a whole STUN message. Allocates nothing, because a server checks every datagram. */
export function isMessage(bytes: Uint8Array): boolean {
  if (bytes.length < HEADER_BYTES || bytes.length % 4 !== 0 || uint16(bytes, 0) >= 0x4000) return false;
  if (uint16(bytes, 4) !== MAGIC_COOKIE >>> 16 || uint16(bytes, 6) !== (MAGIC_COOKIE & 0xffff)) return false;
  return uint16(bytes, 2) === bytes.length - HEADER_BYTES;
}

/** In network order, at an offset within the bytes. */
function uint16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

/** Where the attribute at `at` ends with its padding; undefined when it reaches beyond the message. */
function attributeEnd(view: DataView, at: number): number | undefined {
  if (at + 4 > view.byteLength) return undefined;
  const end = at + 4 + padded(view.getUint16(at + 2));
  return end <= view.byteLength ? end : undefined;
}

function find(bytes: Uint8Array, type: number, length?: number): number | undefined {
  const view = messageView(bytes);
  if (view === undefined) return undefined;
  for (let at = HEADER_BYTES; at < bytes.length; ) {
    const end = attributeEnd(view, at);
    if (end === undefined) return undefined;
    if (view.getUint16(at) === type) return length === undefined || view.getUint16(at + 2) === length ? at : undefined;
    at = end;
  }
  return undefined;
}

function padded(length: number): number {
  return (length + 3) & ~3;
}
