import { z } from 'zod';
import { snapshotContent } from '../core/history/semantic.ts';
import { getSnapshot as snapshotOf } from '../core/history/snapshots.ts';
import { READ } from '../core/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../core/text.ts';
import { defineHeavyOperation } from './define.ts';
import { snapshotRow, viewOfSnapshot } from './snapshot-fields.ts';

/** Above this, MCP answers counts and a link instead of the state (DESIGN 5.6). */
const INLINE_BYTES = 10_000;

const resource = z.record(z.string(), z.unknown()).describe('Custom resource without managed fields');

export const getSnapshot = defineHeavyOperation({
  name: 'get_snapshot',
  title: 'Get a snapshot',
  description: 'The full state of the network at a snapshot: peers, policies, networks and presence.',
  input: z.strictObject({ snapshotId: lineOfText(TEXT_LIMITS.id).describe('Id of a snapshot, from list_snapshots') }),
  output: z.strictObject({
    ...snapshotRow.shape,
    peers: z.array(resource).optional(),
    policies: z.array(resource).optional(),
    networks: z.array(resource).optional(),
    presence: z.record(z.string(), z.enum(['online', 'offline'])).optional(),
    counts: z
      .strictObject({ peers: z.int(), policies: z.int(), networks: z.int(), online: z.int() })
      .optional()
      .describe('In place of a state too large for a tool answer'),
    resource: z.string().optional().describe('MCP resource that holds the whole state'),
  }),
  access: 'snapshots:read',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  cost: 'heavy',
  problems: ['not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/snapshots/:snapshotId' },
  async run({ snapshotId }, { services, workspace, face }) {
    const record = await snapshotOf(services, workspace, snapshotId);
    const state = await services.states.asOf(workspace, { revision: record.spec.revision });
    const content = snapshotContent(state);
    if (face !== 'mcp' || JSON.stringify(content).length <= INLINE_BYTES)
      return { ...viewOfSnapshot(record), ...content };
    const { peers, policies, networks, presence } = content;
    const online = Object.values(presence).filter((status) => status === 'online').length;
    return {
      ...viewOfSnapshot(record),
      counts: { peers: peers.length, policies: policies.length, networks: networks.length, online },
      resource: `mesh://workspaces/${workspace}/snapshots/${record.uid}`,
    };
  },
});
