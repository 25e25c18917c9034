import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { KEY_BYTES } from './x25519.ts';

/** 1: ChaCha20-Poly1305 under HKDF-SHA256 of X25519. */
const SEAL_VERSION = 1;
/** Random for each sending process: a restarted sender never meets its old nonces. */
export const EPOCH_BYTES = 16;
export const TAG_BYTES = 16;
/** ver u8 | sender key 32 | epoch 16 | seq u64: where each begins. */
const SENDER_AT = 1;
const EPOCH_AT = SENDER_AT + KEY_BYTES;
const SEQ_AT = EPOCH_AT + EPOCH_BYTES;
export const HEADER_BYTES = SEQ_AT + 8;
/** A sealed message fits one bus message (max_payload 1 MiB) with room for headers. */
export const MAX_SEALED_BYTES = 1_000_000;

/** The purposes of a message. The purpose is part of the key, so that one kind can never pass for another. */
export const SEAL_KINDS = ['signal', 'graph', 'request', 'reply'] as const;
export type SealKind = (typeof SEAL_KINDS)[number];

export interface SealHeader {
  readonly sender: Uint8Array;
  readonly epoch: Uint8Array;
  readonly seq: number;
}

const INFO_PREFIX = 'mesh/seal/v1';

/** HKDF(X25519(from, to), salt = epoch, info = "mesh/seal/v1" || kind || from || to): one key for each direction. */
export function deriveKey(
  secret: Uint8Array,
  epoch: Uint8Array,
  kind: SealKind,
  from: Uint8Array,
  to: Uint8Array,
): KeyObject {
  const info = Buffer.concat([Buffer.from(INFO_PREFIX + kind), from, to]);
  return createSecretKey(new Uint8Array(hkdfSync('sha256', secret, epoch, info, KEY_BYTES)));
}

export function encrypt(key: KeyObject, header: SealHeader, subject: string, plaintext: Uint8Array): Uint8Array {
  const sealed = Buffer.alloc(HEADER_BYTES + plaintext.length + TAG_BYTES);
  sealed[0] = SEAL_VERSION;
  sealed.set(header.sender, SENDER_AT);
  sealed.set(header.epoch, EPOCH_AT);
  sealed.writeBigUInt64BE(BigInt(header.seq), SEQ_AT);
  const cipher = createCipheriv('chacha20-poly1305', key, nonceOf(sealed), { authTagLength: TAG_BYTES });
  cipher.setAAD(associatedData(sealed, subject), { plaintextLength: plaintext.length });
  sealed.set(cipher.update(plaintext), HEADER_BYTES);
  cipher.final();
  sealed.set(cipher.getAuthTag(), HEADER_BYTES + plaintext.length);
  return sealed;
}

/** The header of a sealed message; undefined when it cannot be one. Views into the message, not copies. */
export function readHeader(sealed: Uint8Array): SealHeader | undefined {
  if (sealed.length < HEADER_BYTES + TAG_BYTES || sealed.length > MAX_SEALED_BYTES) return undefined;
  if (sealed[0] !== SEAL_VERSION) return undefined;
  const seq = new DataView(sealed.buffer, sealed.byteOffset, sealed.byteLength).getBigUint64(SEQ_AT);
  if (seq > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  return {
    sender: sealed.subarray(SENDER_AT, EPOCH_AT),
    epoch: sealed.subarray(EPOCH_AT, SEQ_AT),
    seq: Number(seq),
  };
}

/** The plaintext; undefined unless the message was made with this key for this subject. */
export function decrypt(key: KeyObject, sealed: Uint8Array, subject: string): Uint8Array | undefined {
  const end = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv('chacha20-poly1305', key, nonceOf(sealed), { authTagLength: TAG_BYTES });
  decipher.setAAD(associatedData(sealed, subject), { plaintextLength: end - HEADER_BYTES });
  decipher.setAuthTag(sealed.subarray(end));
  const plaintext = decipher.update(sealed.subarray(HEADER_BYTES, end));
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return plaintext;
}

/** 12 bytes: four zeros and the sequence number. */
function nonceOf(sealed: Uint8Array): Uint8Array {
  const nonce = new Uint8Array(12);
  nonce.set(sealed.subarray(SEQ_AT, HEADER_BYTES), 4);
  return nonce;
}

function associatedData(sealed: Uint8Array, subject: string): Uint8Array {
  return Buffer.concat([sealed.subarray(0, HEADER_BYTES), Buffer.from(subject)]);
}
