import { z } from 'zod';
import { readCheckpoint } from '../../core/audit/checkpoint.ts';
import { makeCheckpoint } from '../../core/audit/keep-checkpoints.ts';
import { READ } from '../../core/base/operation.ts';
import { formatInstant } from '../../core/base/time.ts';
import { requireMember } from '../../core/identity/audit-reach.ts';
import { defineOperation } from '../define.ts';
import { LOG_OPERATION } from './log-fields.ts';

export const getAuditCheckpoint = defineOperation({
  name: 'get_audit_checkpoint',
  title: 'Get a checkpoint of the audit log',
  description:
    'The size and root of the audit log, signed. Keep it: a later log that does not hold what it says was changed. A platform administrator who names no workspace gets that of the installation.',
  input: z.strictObject({}),
  output: z.strictObject({
    origin: z.string().describe('Which log it is of'),
    size: z.int().describe('Entries'),
    root: z.string().describe('Of the Merkle tree, base64'),
    at: z.string(),
    note: z.string().describe('The signed checkpoint: c2sp.org/tlog-checkpoint'),
  }),
  ...LOG_OPERATION,
  effects: READ,
  problems: ['forbidden', 'unavailable'],
  http: { method: 'get', path: '/api/v1/audit/checkpoint' },
  async run(_input, context) {
    requireMember(context);
    const { at, note } = await makeCheckpoint(context.services, context.workspace);
    const { origin = '', size = 0, root = new Uint8Array() } = readCheckpoint(note) ?? {};
    return { origin, size, root: Buffer.from(root).toString('base64'), at: formatInstant(at), note };
  },
});
