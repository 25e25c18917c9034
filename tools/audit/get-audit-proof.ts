import { z } from 'zod';
import { makeCheckpoint, rootAt } from '../../core/audit/keep-checkpoints.ts';
import { consistencyProof, inclusionProof } from '../../core/audit/tree.ts';
import { invalidInput, MeshError } from '../../core/base/errors.ts';
import { READ } from '../../core/base/operation.ts';
import type { AuditTree } from '../../core/base/ports.ts';
import { requireMember } from '../../core/identity/audit-reach.ts';
import { defineOperation } from '../define.ts';
import { LOG_OPERATION } from './log-fields.ts';

const MAX_PROOF_HASHES = 64;
const hash = z.string().describe('SHA-256, base64');
const head = z.strictObject({ size: z.int(), root: hash });
const size = z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional();

export const getAuditProof = defineOperation({
  name: 'get_audit_proof',
  title: 'Prove an entry, or that the audit log only grew',
  description:
    'With index: that the entry of this number is in the log. With from: that the log of that size is the beginning of the one of size to. Without to it is about the newest checkpoint, which is answered too.',
  input: z.strictObject({
    index: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe('Number of an entry: its seq'),
    from: size.describe('Size of the log at an earlier checkpoint'),
    to: size.describe('Size of the log at a later checkpoint'),
  }),
  output: z.strictObject({
    index: z.int().optional(),
    leaf: hash.optional(),
    from: head.optional(),
    to: head,
    hashes: z.array(hash).max(MAX_PROOF_HASHES).describe('As in RFC 9162, 2.1.3 and 2.1.4'),
    checkpoint: z.string().optional().describe('Of the size to, signed'),
  }),
  ...LOG_OPERATION,
  effects: READ,
  problems: ['invalid_input', 'forbidden', 'not_found', 'unavailable'],
  http: { method: 'get', path: '/api/v1/audit/proof' },
  async run({ index, from, to }, context) {
    requireMember(context);
    if ((index === undefined) === (from === undefined)) {
      throw invalidInput([{ pointer: '/index', detail: 'Name either index, or from.' }]);
    }
    const tree = context.services.store.auditTree(context.workspace);
    const newest = to === undefined ? await makeCheckpoint(context.services, context.workspace) : undefined;
    const end = to ?? newest?.size ?? 0;
    await requireReached(tree, { index, from, end });
    const answer = { to: await headAt(tree, end), ...(newest && { checkpoint: newest.note }) };
    const read = (ids: Parameters<AuditTree['hashes']>[0]) => tree.hashes(ids);
    if (from !== undefined) {
      const hashes = await consistencyProof(from, end, read);
      return { from: await headAt(tree, from), ...answer, hashes: hashes.map(base64) };
    }
    const at = index ?? 0;
    const [leaf = new Uint8Array()] = await tree.hashes([{ level: 0, index: at }]);
    const hashes = await inclusionProof(at, end, read);
    return { index: at, leaf: base64(leaf), ...answer, hashes: hashes.map(base64) };
  },
});

/** @throws MeshError */
async function requireReached(
  tree: AuditTree,
  { index = 0, from = 1, end }: { index: number | undefined; from: number | undefined; end: number },
): Promise<void> {
  const entries = await tree.size();
  if (end > entries) throw new MeshError('not_found', `The log has ${entries} entries, not ${end}.`);
  if (index >= end) throw new MeshError('not_found', `The log of ${end} entries has no entry ${index}.`);
  if (from > end)
    throw invalidInput([{ pointer: '/from', detail: `Must be at most ${end}, the size that it leads to.` }]);
}

async function headAt(tree: AuditTree, size: number): Promise<z.input<typeof head>> {
  return { size, root: base64(await rootAt(tree, size)) };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
