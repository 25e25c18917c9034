import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Secret } from '../base/secret.ts';
import type { Keyring } from '../model/services.ts';

type Keys = Pick<Keyring, 'controlPrivateKey'>;

const PREFIX = 'whsec_';
/** As Standard Webhooks asks: 24 to 64. */
const SECRET_BYTES = 32;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ALGORITHM = 'aes-256-gcm';
const PURPOSE = 'mesh/webhook-secrets/v1';

/** A fresh signing secret as Standard Webhooks writes it: `whsec_` and base64. */
export function newSigningSecret(): Secret {
  return new Secret(`${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`);
}

/** The bytes that sign. */
export function signingKeyOf(secret: Secret): Uint8Array {
  return Buffer.from(secret.reveal().slice(PREFIX.length), 'base64');
}

/**
 * The webhook and URL that a secret is bound to. Nothing is sent, signed or unsigned, after somebody rewrites either of them in
 * the database.
 */
export interface SecretUse {
  /** Uid of the webhook. */
  readonly webhook: string;
  readonly url: string;
}

/** Returns the stored form of a secret: nonce, ciphertext and tag, base64. It opens only for the same webhook and URL. */
export function sealSecret(keys: Keys, use: SecretUse, secret: Secret): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, sealingKey(keys), nonce).setAAD(dataOf(use));
  const text = Buffer.concat([cipher.update(secret.reveal(), 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64');
}

/** Undefined where it was sealed with other credentials, for another webhook or for another URL. */
export function openSecret(keys: Keys, use: SecretUse, sealed: string): Secret | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv(ALGORITHM, sealingKey(keys), bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(dataOf(use)).setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    return new Secret(text.toString('utf8'));
  } catch {
    return undefined;
  }
}

function dataOf({ webhook, url }: SecretUse): Uint8Array {
  return Buffer.from(`${webhook}\n${url}`);
}

/**
 * Derives a key for this purpose alone, so that other uses of the control key can neither open these secrets nor be opened by
 * them.
 */
function sealingKey({ controlPrivateKey }: Keys): Uint8Array {
  const source = Buffer.from(controlPrivateKey.reveal(), 'base64');
  return new Uint8Array(hkdfSync('sha256', source, '', PURPOSE, KEY_BYTES));
}
