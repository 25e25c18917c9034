import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { z } from 'zod';
import { signCheckpoint } from '../core/audit/checkpoint.ts';
import { signPayload } from '../core/audit/dsse.ts';
import type { LogKeys } from '../core/audit/log-keys.ts';
import { API_GROUP } from '../core/base/record.ts';

const PUBLIC_KEY_BYTES = 32;
const INSTALLATION_DIGITS = 16;

/** A key of the logs as the credentials have it. Of one that is no longer in use only the public part is kept. */
export const storedLogKey = z.object({
  publicKey: z.base64().refine((text) => Buffer.from(text, 'base64').length === PUBLIC_KEY_BYTES),
  from: z.iso.datetime(),
  until: z.iso.datetime().optional(),
  privateKey: z.string().startsWith('-----BEGIN PRIVATE KEY-----').optional(),
});
export type StoredLogKey = z.infer<typeof storedLogKey>;

export function newLogKey(now: number): StoredLogKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  return { publicKey: publicKeyOf(pem).toString('base64'), from: new Date(now).toISOString(), privateKey: pem };
}

/** Ends the key in use, whose private part is forgotten, and adds another. */
export function rotated(keys: readonly StoredLogKey[], now: number): StoredLogKey[] {
  const until = new Date(now).toISOString();
  const ended = keys.map(({ publicKey, from, until: before = until }) => ({ publicKey, from, until: before }));
  return [...ended, newLogKey(now)];
}

/**
 * @param controlKey which names the installation, as it does to nodes
 * @throws Error where no key can sign
 */
export function buildLogKeys(stored: readonly StoredLogKey[], controlKey: Uint8Array): LogKeys {
  const current = stored.findLast(({ until }) => until === undefined);
  if (!current?.privateKey) throw new Error('credentials.json has no key that signs the audit log: restore it.');
  const { privateKey } = current;
  const publicKey = Buffer.from(current.publicKey, 'base64');
  const installation = createHash('sha256').update(controlKey).digest('hex').slice(0, INSTALLATION_DIGITS);
  return {
    originOf: (workspace) => `${API_GROUP}/log/${installation}/${workspace}`,
    keys: stored.map((key) => ({
      publicKey: new Uint8Array(Buffer.from(key.publicKey, 'base64')),
      from: Date.parse(key.from),
      ...(key.until !== undefined && { until: Date.parse(key.until) }),
    })),
    sign: (checkpoint) => signCheckpoint(checkpoint, publicKey, privateKey),
    attest: (payloadType, payload) => ({ publicKey, signature: signPayload(payloadType, payload, privateKey) }),
  };
}

function publicKeyOf(pem: string): Buffer {
  const spki = createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'der' });
  return spki.subarray(-PUBLIC_KEY_BYTES);
}
