import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { diffStates } from '../../core/history/diff.ts';
import { pointAt, stateAt } from '../../core/history/point.ts';
import { allowedSchema } from '../../core/reachability/answers.ts';
import { defineHeavyOperation } from '../define.ts';
import { momentText } from './snapshot-fields.ts';
import { momentSchema, momentView } from './snapshot-view.ts';

const side = momentSchema.pick({ id: true, captured_at: true, revision: true, trigger_type: true, triggered_by: true });
const resource = z.strictObject({ kind: z.string(), name: z.string() });

export const diffSnapshots = defineHeavyOperation({
  name: 'diff_snapshots',
  title: 'Compare two snapshots',
  description:
    'What differs between two moments: resources, who may reach whom and why, and the commits with who approved them.',
  input: z.strictObject({
    from: momentText.describe('Id of the earlier snapshot, or an instant'),
    to: momentText.describe('Id of the later snapshot, or an instant'),
  }),
  output: z.strictObject({
    from: side,
    to: side,
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
    outside_compared: z.boolean(),
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
    const momentOf = async (text: string, pointer: string) => {
      const point = await pointAt(services, workspace, text, pointer);
      const state = await stateAt(services, workspace, point);
      const { digest: _, size_bytes: _size, history_bytes: _history, ...row } = momentView(point, state);
      return { state, at: point.instant, row };
    };
    const [before, after] = await Promise.all([momentOf(from, '/from'), momentOf(to, '/to')]);
    return { from: before.row, to: after.row, ...(await diffStates(services, before, after)) };
  },
});
