import { z } from 'zod';
import { commitContext } from '../../core/base/commit-context.ts';
import { MeshError } from '../../core/base/errors.ts';
import { CREATE } from '../../core/base/operation.ts';
import { takeSnapshot as take } from '../../core/history/snapshots.ts';
import { defineOperation } from '../define.ts';
import { snapshotSchema, snapshotView } from './snapshot-view.ts';

export const takeSnapshot = defineOperation({
  name: 'take_snapshot',
  title: 'Take a snapshot',
  description: 'Names the present state of the network, so that it can be compared and asked about later.',
  input: z.strictObject({}),
  output: snapshotSchema,
  access: 'snapshots:write',
  workspace: 'scoped',
  edition: 'pro',
  effects: CREATE,
  problems: [],
  http: { method: 'post', path: '/api/v1/workspaces/:workspaceId/snapshots', status: 201 },
  async run(_input, context) {
    const { services, workspace, caller } = context;
    const capture = { trigger: 'manual', triggeredBy: caller.subject } as const;
    const record = await take(services, workspace, capture, commitContext(context, 'take a snapshot'));
    if (!record) throw new MeshError('unavailable', 'The snapshot was not stored: try again.');
    return snapshotView(record);
  },
});
