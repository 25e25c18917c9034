import { createHmac, timingSafeEqual } from 'node:crypto';

const KEY_BYTES = 32;
/** The prime of Curve25519, RFC 7748, 4.1. */
const PRIME = 2n ** 255n - 19n;
/** The u of the points whose order divides the cofactor, with which X25519 gives zero whatever the private key (RFC 7748, 6.1). */
const LOW_ORDER: ReadonlySet<bigint> = new Set([
  0n,
  1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
  PRIME - 1n,
]);

/** A WireGuard public key, X25519 in base64, in its one canonical form: one key cannot be registered twice. */
export function isPublicKey(text: string): boolean {
  return publicKeyFlaw(text) === undefined;
}

/** Why a text is no public key in canonical form, and what to send; undefined where it is one. */
export function publicKeyFlaw(text: string): string | undefined {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== KEY_BYTES)
    return 'must be an X25519 public key in base64, 44 characters, as `wg pubkey` writes it';
  const last = bytes[KEY_BYTES - 1] ?? 0;
  // X25519 ignores the top bit (RFC 7748, 5), and base64 has spare bits: both would give a key two spellings.
  bytes[KEY_BYTES - 1] = last & 0x7f;
  const point = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
  if (point === 0n) return 'is all zeros, which is the key of nobody: send what `wg pubkey` writes';
  if (LOW_ORDER.has(point % PRIME))
    return 'is a point of low order, with which everybody shares the same secret: make a key with `wg genkey`';
  if (point >= PRIME)
    return 'is a number beyond the prime of Curve25519, which no `wg pubkey` writes: make a key with `wg genkey`';
  const canonical = bytes.toString('base64');
  if (canonical === text) return undefined;
  const why = last > 0x7f ? 'has its top bit set, which X25519 ignores' : 'is not written in canonical base64';
  return `${why}: send the same key as ${canonical}, and set that on the device`;
}

/**
 * HMAC-SHA256(X25519(node, controlKey), subject || publicKey), base64: who made it for this subject has the private key.
 *
 * @param prover public key of whoever made it, where that is another than the one that it is about
 */
export function isProofOf(
  proof: string,
  subject: string,
  publicKey: string,
  keys: { agree(peerPublicKey: Uint8Array): Uint8Array },
  prover = publicKey,
): boolean {
  const given = Buffer.from(proof, 'base64');
  if (given.length !== 32) return false;
  let shared: Uint8Array;
  try {
    shared = keys.agree(Uint8Array.from(Buffer.from(prover, 'base64')));
  } catch {
    // A point of low order has no shared secret worth the name.
    return false;
  }
  return timingSafeEqual(given, createHmac('sha256', shared).update(subject).update(publicKey).digest());
}
