import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Keyring } from './services.ts';

const KEY_BYTES = 32;

/** A WireGuard public key, X25519 in base64, in its one canonical form: one key cannot be registered twice. */
export function isPublicKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== text) return false;
  // The top bit is ignored by X25519 (RFC 7748, 5), so it would give a key two spellings.
  return ((bytes[KEY_BYTES - 1] ?? 0) & 0x80) === 0 && bytes.some((byte) => byte !== 0);
}

/** HMAC-SHA256(X25519(node, controlKey), subject || publicKey), base64: who made it for this subject has the private key. */
export function isProofOf(proof: string, subject: string, publicKey: string, keys: Pick<Keyring, 'agree'>): boolean {
  const given = Buffer.from(proof, 'base64');
  if (given.length !== 32) return false;
  let shared: Uint8Array;
  try {
    shared = keys.agree(Uint8Array.from(Buffer.from(publicKey, 'base64')));
  } catch {
    // A point of low order has no shared secret worth the name.
    return false;
  }
  return timingSafeEqual(given, createHmac('sha256', shared).update(subject).update(publicKey).digest());
}
