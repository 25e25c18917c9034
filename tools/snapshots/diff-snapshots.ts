import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { flippedControls } from '../../core/compliance/flips.ts';
import { beginningText } from '../../core/history/beginning.ts';
import { diffStates } from '../../core/history/diff.ts';
import { pointAt, sinceBeginning, stateAt } from '../../core/history/point.ts';
import { FRAMEWORKS } from '../../core/model/frameworks.ts';
import { workspaceById } from '../../core/model/workspaces.ts';
import { allowedSchema, portRangeSchema } from '../../core/reachability/answers.ts';
import { controlStatus } from '../compliance/assessment-fields.ts';
import { defineHeavyOperation } from '../define.ts';
import { pageQuery } from '../page.ts';
import { changedPathSchema, changeSchema } from './commit-fields.ts';
import { momentText } from './snapshot-fields.ts';
import { momentSchema, momentView } from './snapshot-view.ts';

const side = momentSchema.pick({ id: true, captured_at: true, revision: true, trigger_type: true, triggered_by: true });
/** Maximum groups per page. */
const GROUPS = 50;

const changeType = z.enum(['added', 'removed', 'changed']);
const ports = { old: allowedSchema, new: allowedSchema };
const names = z.array(z.string()).readonly();
const changes = z.array(z.strictObject({ revisions: z.array(z.int()).readonly(), time: z.boolean() })).readonly();
const together = { together: z.boolean() };
const holds = z.enum(['holds', 'fails']);
const resource = z.strictObject({ kind: z.string(), name: z.string() });

export const diffSnapshots = defineHeavyOperation({
  name: 'diff_snapshots',
  title: 'Compare two snapshots',
  description: 'What differs between two moments, and which change did it.',
  input: z.strictObject({
    from: momentText.describe('Snapshot id or instant'),
    to: momentText.describe('Likewise'),
    cursor: pageQuery.cursor,
  }),
  output: z.strictObject({
    from: side,
    to: side,
    added: z.array(resource),
    removed: z.array(resource),
    changed: z.array(resource.extend({ changes: z.array(changedPathSchema) })),
    presence: z.array(z.strictObject({ peer: z.string(), old: z.string(), new: z.string() })),
    groups: z.array(
      z.strictObject({ type: changeType, src: names, dst: names, pairs: z.int(), ...ports, changes, ...together }),
    ),
    connectivity: z.array(
      z.strictObject({
        type: changeType,
        src: z.string(),
        dst: z.string(),
        ...ports,
        causes: z.array(z.string()).readonly(),
        ...together,
      }),
    ),
    omitted_connectivity: z.int(),
    outside_compared: z.boolean(),
    exposure: z.array(z.strictObject({ src: names, dst: names, opened: z.array(portRangeSchema).readonly(), changes })),
    assertions: z.array(
      z.strictObject({ assertion: z.string(), text: z.string(), old: holds, new: holds, detail: z.string() }),
    ),
    controls: z.array(
      z.strictObject({
        framework: z.enum(FRAMEWORKS),
        control: z.string(),
        title: z.string(),
        from: controlStatus,
        to: controlStatus,
        evidence: z.string(),
      }),
    ),
    commits: z.array(changeSchema),
    summary: z.strictObject({
      groups: z.int(),
      unattributed_pairs: z.int(),
      exposure: z.int(),
      more_commits: z.boolean(),
      known_since: z.string().nullable(),
    }),
    note: z.string().optional().describe('Where a moment lies before history: it is compared from its beginning'),
    next_cursor: z.string().optional(),
  }),
  brief: ({ connectivity: _, ...diff }) => diff,
  access: 'snapshots:read',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/snapshots/diff' },
  async run({ from, to, cursor }, { services, workspace }) {
    const momentOf = async (text: string, pointer: string) => {
      const asked = await pointAt(services, workspace, text, pointer);
      const { point, begin } = await sinceBeginning(services, workspace, asked);
      const state = await stateAt(services, workspace, point);
      const { digest: _, size_bytes: _size, history_bytes: _history, ...row } = momentView(point, state);
      return { state, at: point.instant, begin, row };
    };
    const [before, after] = await Promise.all([momentOf(from, '/from'), momentOf(to, '/to')]);
    const { settings } = (await workspaceById(services, workspace)).spec;
    const begin = before.begin ?? after.begin;
    const sideOf = ({ state, at }: typeof before) => ({
      state,
      at,
      reach: () => services.states.reachability(state, at),
    });
    return {
      from: before.row,
      to: after.row,
      ...(await diffStates(services, before, after, { cursor, limit: GROUPS })),
      ...(begin !== undefined && { note: await beginningText(services, workspace, begin) }),
      controls: flippedControls(sideOf(before), sideOf(after), settings),
    };
  },
});
