import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Keyring } from './services.ts';

const KEY_BYTES = 32;

/** A WireGuard public key, X25519 in base64, in its one canonical form: one key cannot be registered twice. */
export function isPublicKey(text: string): boolean {
  return publicKeyFlaw(text) === undefined;
}

/** Why a text is no public key in canonical form, and what to send; undefined where it is one. */
export function publicKeyFlaw(text: string): string | undefined {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== KEY_BYTES)
    return 'must be an X25519 public key in base64, 44 characters, as `wg pubkey` writes it';
  if (bytes.every((byte) => byte === 0))
    return 'is all zeros, which is the key of nobody: send what `wg pubkey` writes';
  const last = bytes[KEY_BYTES - 1] ?? 0;
  // X25519 ignores the top bit (RFC 7748, 5), and base64 has spare bits: both would give a key two spellings.
  bytes[KEY_BYTES - 1] = last & 0x7f;
  const canonical = bytes.toString('base64');
  if (canonical === text) return undefined;
  const why = last > 0x7f ? 'has its top bit set, which X25519 ignores' : 'is not written in canonical base64';
  return `${why}: send the same key as ${canonical}, and set that on the device`;
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
