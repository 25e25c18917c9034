import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { formatInstant } from '../../core/base/time.ts';
import { countChanges as countIn } from '../../core/history/change-count.ts';
import { rangeNote, rangeOf } from '../../core/history/pair/range.ts';
import { defineHeavyOperation } from '../define.ts';
import { instant } from './snapshot-fields.ts';

const count = z.int().optional();

export const countChanges = defineHeavyOperation({
  name: 'count_changes',
  title: 'Count changes',
  description: 'How many revisions changed the workspace in a range, by workflows or without, and what they changed.',
  input: z.strictObject({ from: instant, to: instant.optional().describe('None: now') }),
  output: z.strictObject({
    from: z.string(),
    to: z.string(),
    count: z.int().describe('Revisions that changed something'),
    is_complete: z.boolean().describe('False: at least so many'),
    kinds: z
      .strictObject({
        MeshPeer: count,
        MeshPolicy: count,
        MeshNetwork: count,
        AgentIdentity: count,
        PolicyAssertion: count,
        Token: count,
        Member: count,
        Workspace: count,
        Webhook: count,
      })
      .describe('Changed records'),
    note: z.string().optional().describe('Where the range is cut, and why'),
  }),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/changes/count' },
  async run(asked, { services, workspace }) {
    const range = await rangeOf(services, workspace, { ...asked, mayPrecede: true });
    const { from, to, since } = range;
    const note = await rangeNote(services, workspace, range);
    const { count: revisions, kinds, isComplete } = await countIn(services, workspace, { from: since, to });
    return {
      from: formatInstant(from),
      to: formatInstant(to),
      count: revisions,
      is_complete: isComplete,
      kinds: { ...kinds },
      ...(note !== undefined && { note }),
    };
  },
});
