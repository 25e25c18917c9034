import { z } from 'zod';
import { diffStates } from '../core/history/diff.ts';
import { getSnapshot } from '../core/history/snapshots.ts';
import { READ } from '../core/operation.ts';
import { allowedSchema } from '../core/reachability/answers.ts';
import { lineOfText, TEXT_LIMITS } from '../core/text.ts';
import { defineHeavyOperation } from './define.ts';
import { snapshotRow, viewOfSnapshot } from './snapshot-fields.ts';

const resource = z.strictObject({ kind: z.string(), name: z.string() });

export const diffSnapshots = defineHeavyOperation({
  name: 'diff_snapshots',
  title: 'Compare two snapshots',
  description:
    'What differs between two snapshots: resources, who may reach whom and which change caused it, and the commits between with who approved them.',
  input: z.strictObject({
    from: lineOfText(TEXT_LIMITS.id).describe('Id of the earlier snapshot'),
    to: lineOfText(TEXT_LIMITS.id).describe('Id of the later snapshot'),
  }),
  output: z.strictObject({
    from: snapshotRow,
    to: snapshotRow,
    added: z.array(resource),
    removed: z.array(resource),
    changed: z.array(resource.extend({ changes: z.array(z.looseObject({ path: z.string() })) })),
    presence: z.array(z.strictObject({ peer: z.string(), old: z.string(), new: z.string() })),
    connectivity: z.array(
      z.strictObject({
        type: z.enum(['added', 'removed', 'changed']),
        src: z.string(),
        dst: z.string(),
        old: allowedSchema,
        new: allowedSchema,
        causes: z.array(z.string()).readonly(),
      }),
    ),
    omitted_connectivity: z.int(),
    commits: z.array(z.looseObject({ revision: z.int(), reviewed_by: z.string().nullable() })),
  }),
  access: 'snapshots:read',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/snapshots/diff' },
  async run({ from, to }, { services, workspace }) {
    const [older, newer] = await Promise.all([from, to].map((id) => getSnapshot(services, workspace, id)));
    if (!older || !newer) throw new TypeError('Two snapshots were read.');
    const [before, after] = await Promise.all(
      [older, newer].map(async ({ spec }) => ({
        state: await services.states.asOf(workspace, { revision: spec.revision }),
        at: spec.capturedAt,
      })),
    );
    if (!before || !after) throw new TypeError('Two states were read.');
    return { from: viewOfSnapshot(older), to: viewOfSnapshot(newer), ...(await diffStates(services, before, after)) };
  },
});
