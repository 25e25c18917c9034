import { z } from 'zod';
import { invalidInput } from '../../core/base/errors.ts';
import { READ } from '../../core/base/operation.ts';
import { formatInstant, parseInstant } from '../../core/base/time.ts';
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
    from: instant.optional().describe('Not before'),
    to: instant.optional().describe('Not after'),
    trigger_type: z.enum(TRIGGER_TYPES).optional().describe('Why taken'),
    ...pageQuery,
  }),
  output: z.strictObject({
    items: z.array(snapshotSchema),
    known_since: z.string().optional().describe('Since when history is kept, where the range begins before that'),
    next_cursor: z.string().optional(),
  }),
  columns: { Id: 'id', Captured: 'captured_at', Trigger: 'trigger_type', Revision: 'revision', By: 'triggered_by' },
  access: 'snapshots:read',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/snapshots' },
  async run({ from, to, trigger_type: trigger, cursor, limit }, { services, workspace }) {
    const [begin, end] = [from, to].map((text) => (text === undefined ? undefined : parseInstant(text)));
    if (begin !== undefined && end !== undefined && end < begin) {
      const detail = `The range ends before it begins: swap ${from} and ${to}.`;
      throw invalidInput([{ pointer: '/to', detail }], `/to: ${detail}`);
    }
    if (begin !== undefined && begin > services.clock.now()) {
      const detail = 'This lies in the future: ask about instants up to now.';
      throw invalidInput([{ pointer: '/from', detail }], `/from: ${detail}`);
    }
    const { items, next } = await listOf(services, workspace, { from: begin, to: end, trigger, cursor, limit });
    const kept = begin === undefined ? undefined : await services.store.keptFrom(workspace);
    return {
      items: items.map(snapshotView),
      ...(kept && begin !== undefined && begin < kept.at && { known_since: formatInstant(kept.at) }),
      ...(next !== undefined && { next_cursor: next }),
    };
  },
});
