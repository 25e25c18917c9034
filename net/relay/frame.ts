import { createHash } from 'node:crypto';

/** 1: the layout of README.md. */
export const FRAME_VERSION = 1;
/** ver u8 | type u8 | flags u16 | length u32 | peer u64 */
export const HEADER_BYTES = 16;
/** A frame with its header. Larger than any WireGuard packet can be, small enough to queue by the dozen. */
const MAX_FRAME_BYTES = 65_536;
export const MAX_PAYLOAD_BYTES = MAX_FRAME_BYTES - HEADER_BYTES;

export const FRAME_TYPES = {
  hello: 1,
  challenge: 2,
  proof: 3,
  ready: 4,
  forward: 5,
  keepalive: 6,
  probe: 7,
  bye: 8,
  renew: 9,
  revoke: 10,
} as const;

export type FrameType = keyof typeof FRAME_TYPES;

/** In `flags` of a forward frame: its sender takes joined packets, and this is one alone. */
export const FLAG_TAKES_JOINED = 1;
/** In `flags` of a forward frame, so much or more is the segment of joined packets (platform/segments.ts). */
export const MIN_SEGMENT = 2;

/** Set in answers to keepalive, probe and revoke, so that no answer is ever answered. */
export const FLAG_REPLY = 1;

/** The first 8 bytes of SHA-256 of a public key, as a number: what frames name a peer by. */
export function peerIdOf(publicKey: Uint8Array): bigint {
  return createHash('sha256').update(publicKey).digest().readBigUInt64BE(0);
}

export function encodeFrame(type: FrameType, peer: bigint, payload: Uint8Array, flags = 0): Uint8Array {
  const frame = new Uint8Array(HEADER_BYTES + payload.length);
  writeHeader(new DataView(frame.buffer), 0, FRAME_TYPES[type], flags, payload.length, peer);
  frame.set(payload, HEADER_BYTES);
  return frame;
}

export function writeHeader(
  view: DataView,
  at: number,
  type: number,
  flags: number,
  length: number,
  peer: bigint,
): void {
  view.setUint8(at, FRAME_VERSION);
  view.setUint8(at + 1, type);
  view.setUint16(at + 2, flags);
  view.setUint32(at + 4, length);
  view.setBigUint64(at + 8, peer);
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
