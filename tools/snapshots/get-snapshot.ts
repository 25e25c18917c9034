import { z } from 'zod';
import { type Face, READ } from '../../core/base/operation.ts';
import { contentPage, contentShape } from '../../core/history/content.ts';
import { pointAt, stateAt } from '../../core/history/point.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { defineHeavyOperation } from '../define.ts';
import { pageQuery } from '../page.ts';
import { momentText } from './snapshot-fields.ts';
import { momentSchema, momentView } from './snapshot-view.ts';

/**
 * Characters of JSON of the resources of one page: what an agent can read at once, and what one piece of a REST answer, to
 * which the pages are merged, may hold in memory.
 */
export const SNAPSHOT_PAGE: Readonly<Record<Face, number>> = { mcp: 10_000, rest: 262_144 };

export const getSnapshot = defineHeavyOperation({
  name: 'get_snapshot',
  title: 'Get a snapshot',
  description:
    'The full state at a snapshot or any instant: peers, policies, networks and presence. Above 10 KB in pages.',
  input: z.strictObject({
    snapshot_id: momentText.describe('Id from list_snapshots, or an instant'),
    cursor: pageQuery.cursor,
  }),
  spellings: { snapshotId: 'snapshot_id', at: 'snapshot_id' },
  output: z.strictObject({
    ...momentSchema.shape,
    counts: z.record(z.string(), z.int()).optional().describe('Of the whole, where this is a part'),
    resource: z.string().optional().describe('MCP resource that holds the whole'),
    ...contentShape,
    next_cursor: z.string().optional(),
  }),
  access: 'snapshots:read',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/snapshots/:snapshotId', joinsPages: true },
  async run({ snapshot_id: id, cursor }, { services, workspace, face }) {
    const point = await pointAt(services, workspace, id, '/snapshot_id');
    const state = await stateAt(services, workspace, point);
    const { content, next } = contentPage(state, cursor, SNAPSHOT_PAGE[face]);
    const uri = `mesh://workspaces/${workspace}/snapshots/${encodeURIComponent(id)}`;
    return {
      ...momentView(point, state),
      ...(face === 'mcp' && next !== undefined && { counts: countsOf(state), resource: uri }),
      ...content,
      ...(next !== undefined && { next_cursor: next }),
    };
  },
});

function countsOf({ peers, policies, waiting, networks, agents, presence }: NetworkState) {
  const online = [...presence.values()].filter(({ spec }) => spec.online).length;
  return {
    peers: peers.size,
    policies: policies.size + waiting.size,
    networks: networks.size,
    agents: agents.size,
    online,
  };
}
