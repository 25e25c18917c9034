import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { parseInstant } from '../../core/base/time.ts';
import { TRIGGER_TYPES } from '../../core/history/snapshot-record.ts';
import { listSnapshots as listOf } from '../../core/history/snapshots.ts';
import { defineOperation } from '../define.ts';
import { pageQuery } from '../page.ts';
import { instant } from './snapshot-fields.ts';
import { snapshotSchema, snapshotView } from './snapshot-view.ts';

export const listSnapshots = defineOperation({
  name: 'list_snapshots',
  title: 'List snapshots',
  description: 'Snapshots of the network within a time range, newest first.',
  input: z.strictObject({
    from: instant.optional().describe('Captured at or after'),
    to: instant.optional().describe('Captured at or before'),
    trigger_type: z.enum(TRIGGER_TYPES).optional(),
    ...pageQuery,
  }),
  output: z.strictObject({ items: z.array(snapshotSchema), next_cursor: z.string().optional() }),
  columns: { Id: 'id', Captured: 'captured_at', Trigger: 'trigger_type', Revision: 'revision', By: 'triggered_by' },
  access: 'snapshots:read',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/snapshots' },
  async run({ from, to, trigger_type: trigger, cursor, limit }, { services, workspace }) {
    const { items, next } = await listOf(services, workspace, {
      from: from === undefined ? undefined : parseInstant(from),
      to: to === undefined ? undefined : parseInstant(to),
      trigger,
      cursor,
      limit,
    });
    return { items: items.map(snapshotView), ...(next !== undefined && { next_cursor: next }) };
  },
});
