import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Keyring } from '../model/services.ts';

/** AES-256-GCM: NIST SP 800-38D, 8.2.2, random nonces of 96 bits. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Seals what an account keeps secret, under a key that follows from the one in `credentials.json`: who has the store alone
 * cannot read it, and moved to another account it opens no more. Base64 of nonce, ciphertext and tag.
 */
export function sealSecret(keys: Pick<Keyring, 'controlPrivateKey'>, account: string, secret: Uint8Array): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyOf(keys), nonce).setAAD(Buffer.from(account));
  return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

/** Undefined where it was sealed under another key or for another account. */
export function openSecret(
  keys: Pick<Keyring, 'controlPrivateKey'>,
  account: string,
  sealed: string,
): Uint8Array | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
  const end = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', keyOf(keys), bytes.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(account))
    .setAuthTag(bytes.subarray(end));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()]);
  } catch {
    return undefined;
  }
}

function keyOf({ controlPrivateKey }: Pick<Keyring, 'controlPrivateKey'>): Uint8Array {
  const key = Buffer.from(controlPrivateKey.reveal(), 'base64');
  return new Uint8Array(hkdfSync('sha256', key, '', 'mesh second factor', 32));
}
