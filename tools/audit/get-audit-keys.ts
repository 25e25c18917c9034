import { z } from 'zod';
import { keyFingerprint } from '../../core/audit/dsse.ts';
import { READ } from '../../core/base/operation.ts';
import { formatInstant } from '../../core/base/time.ts';
import { defineOperation } from '../define.ts';

export const getAuditKeys = defineOperation({
  name: 'get_audit_keys',
  title: 'Get the keys of the audit logs',
  description:
    'The public keys that sign, and signed, checkpoints of the audit logs. Compare them once with what the operator shows you, and pin them: a key that comes with what it signed proves nothing.',
  input: z.strictObject({}),
  output: z.strictObject({
    originPrefix: z.string().describe('Origin and key name of a log are this and the id of its workspace'),
    items: z
      .array(
        z.strictObject({
          publicKey: z.string().describe('Ed25519, base64'),
          fingerprint: z.string().describe('SHA-256 of the key, as evidence names it'),
          from: z.string(),
          until: z.string().nullable().describe('Null for the one in use'),
          endorsement: z.string().nullable().describe('By which the key before it names it as the next; a signed note'),
        }),
      )
      .describe('Oldest first'),
  }),
  access: 'public',
  workspace: 'none',
  edition: 'community',
  effects: READ,
  problems: [],
  http: { method: 'get', path: '/api/v1/audit/keys' },
  columns: { Key: 'publicKey', Fingerprint: 'fingerprint', From: 'from', Until: 'until' },
  async run(_input, { services }) {
    const { keys, originOf } = services.keys.logs;
    const items = keys.map(({ publicKey, from, until, endorsement = null }) => ({
      publicKey: Buffer.from(publicKey).toString('base64'),
      fingerprint: keyFingerprint(publicKey),
      from: formatInstant(from),
      until: until === undefined ? null : formatInstant(until),
      endorsement,
    }));
    return { originPrefix: originOf(''), items };
  },
});
