import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { z } from 'zod';
import { signCheckpoint } from '../core/audit/checkpoint.ts';
import { signPayload } from '../core/audit/dsse.ts';
import { endorse, headsInMemory, type LogHeads, type LogKeys, logOrigin } from '../core/audit/log-keys.ts';

const PUBLIC_KEY_BYTES = 32;
const MAX_ENDORSEMENT = 1_024;

/** A key of the logs as the credentials have it. Of one that is no longer in use only the public part is kept. */
export const storedLogKey = z.object({
  publicKey: z.base64().refine((text) => Buffer.from(text, 'base64').length === PUBLIC_KEY_BYTES),
  from: z.iso.datetime(),
  until: z.iso.datetime().optional(),
  /**
   * The signature by the preceding key, which names this key as its successor. Absent for the first key and for keys made by
   * older versions.
   */
  endorsement: z.string().max(MAX_ENDORSEMENT).optional(),
  privateKey: z.string().startsWith('-----BEGIN PRIVATE KEY-----').optional(),
});
export type StoredLogKey = z.infer<typeof storedLogKey>;

export function newLogKey(now: number): StoredLogKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  return { publicKey: publicKeyOf(pem).toString('base64'), from: new Date(now).toISOString(), privateKey: pem };
}

/** Ends the key in use, which names the one that follows before its private part is forgotten. */
export function rotated(keys: readonly StoredLogKey[], now: number): StoredLogKey[] {
  const until = new Date(now).toISOString();
  const next = newLogKey(now);
  const { publicKey, privateKey } = inUse(keys);
  const endorsement = endorse(Buffer.from(next.publicKey, 'base64'), {
    publicKey: Buffer.from(publicKey, 'base64'),
    privateKey,
  });
  const ended = keys.map(({ privateKey: _, ...key }) => ({ until, ...key }));
  return [...ended, { ...next, endorsement }];
}

/**
 * @param controlKey which names the installation, as it does to nodes
 * @param heads what was signed last, kept apart from the database
 * @throws Error where no key can sign
 */
export function buildLogKeys(
  stored: readonly StoredLogKey[],
  controlKey: Uint8Array,
  heads: LogHeads = headsInMemory(),
): LogKeys {
  const { privateKey, publicKey: current } = inUse(stored);
  const publicKey = Buffer.from(current, 'base64');
  return {
    originOf: (workspace) => logOrigin(controlKey, workspace),
    keys: stored.map((key) => ({
      publicKey: new Uint8Array(Buffer.from(key.publicKey, 'base64')),
      from: Date.parse(key.from),
      ...(key.until !== undefined && { until: Date.parse(key.until) }),
      ...(key.endorsement !== undefined && { endorsement: key.endorsement }),
    })),
    sign: (checkpoint) => signCheckpoint(checkpoint, publicKey, privateKey),
    attest: (payloadType, payload) => ({ publicKey, signature: signPayload(payloadType, payload, privateKey) }),
    heads,
  };
}

/** @throws Error where no key can sign */
function inUse(stored: readonly StoredLogKey[]): StoredLogKey & { readonly privateKey: string } {
  const current = stored.findLast(({ until }) => until === undefined);
  const privateKey = current?.privateKey;
  if (!privateKey) throw new Error('credentials.json has no key that signs the audit log: restore it from a backup.');
  return { ...current, privateKey };
}

function publicKeyOf(pem: string): Buffer {
  const spki = createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'der' });
  return spki.subarray(-PUBLIC_KEY_BYTES);
}
