import { createHash } from 'node:crypto';

/** 1: the layout of README.md. */
export const FRAME_VERSION = 1;
/** ver u8 | type u8 | flags u16 | length u32 | peer u64, all big-endian: where each begins. */
const TYPE_AT = 1;
const FLAGS_AT = 2;
const LENGTH_AT = 4;
const PEER_AT = 8;
const PEER_LOW_AT = 12;
export const HEADER_BYTES = 16;
/** A frame with its header. Larger than any WireGuard packet can be, small enough to queue by the dozen. */
const MAX_FRAME_BYTES = 65_536;
export const MAX_PAYLOAD_BYTES = MAX_FRAME_BYTES - HEADER_BYTES;

/** The fields of a header beside its version and the length of the payload. */
export interface Header {
  readonly type: number;
  readonly flags: number;
  readonly peer: bigint;
}

export function readHeader(view: DataView, at: number): Header {
  return { type: typeAt(view, at), flags: view.getUint16(at + FLAGS_AT), peer: view.getBigUint64(at + PEER_AT) };
}

export function writeHeader(view: DataView, at: number, { type, flags, peer }: Header, length: number): void {
  view.setUint8(at, FRAME_VERSION);
  view.setUint8(at + TYPE_AT, type);
  view.setUint16(at + FLAGS_AT, flags);
  view.setUint32(at + LENGTH_AT, length);
  view.setBigUint64(at + PEER_AT, peer);
}

/** Single fields, for those who look at every frame and must make no object. */
export function versionAt(view: DataView, at: number): number {
  return view.getUint8(at);
}

export function typeAt(view: DataView, at: number): number {
  return view.getUint8(at + TYPE_AT);
}

export function payloadLengthAt(view: DataView, at: number): number {
  return view.getUint32(at + LENGTH_AT);
}

/** The peer of a frame as two 32-bit halves: numbers cost less than bigints. */
export function peerHighAt(view: DataView, at: number): number {
  return view.getUint32(at + PEER_AT);
}

export function peerLowAt(view: DataView, at: number): number {
  return view.getUint32(at + PEER_LOW_AT);
}

export function setPeerAt(view: DataView, at: number, high: number, low: number): void {
  view.setUint32(at + PEER_AT, high);
  view.setUint32(at + PEER_LOW_AT, low);
}

/** The first 8 bytes of SHA-256 of a public key, as a number: what frames name a peer by. */
export function peerIdOf(publicKey: Uint8Array): bigint {
  return createHash('sha256').update(publicKey).digest().readBigUInt64BE(0);
}

/** The two halves of a peer id. */
export function halvesOf(peer: bigint): { readonly high: number; readonly low: number } {
  return { high: Number(peer >> 32n), low: Number(peer & 0xffffffffn) };
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
