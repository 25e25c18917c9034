import { z } from 'zod';
import { listOf } from '../../core/base/list.ts';
import { READ } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { PEER_PHASES, type PeerRecord } from '../../core/model/resources.ts';
import { peerFilter } from '../../core/peers/peer-filter.ts';
import { livePeers, type PeerView, peerColumns, peerSchema, peerView } from '../../core/views/peer-view.ts';
import { defineHeavyOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';
import { isAboutPast, pastCost, pastFields, stateFor } from '../past.ts';
import { instant } from '../snapshots/snapshot-fields.ts';

const NOTHING = () => undefined;
const HEARD_OF_NOBODY = {
  lastSeen: NOTHING,
  version: NOTHING,
  mismatch: NOTHING,
  keySharedAt: NOTHING,
  isHere: NOTHING,
};

const FIELDS = peerSchema.keyof().options;

const peerItem = peerSchema.partial().required({ id: true, name: true });

type PeerItem = z.output<typeof peerItem>;

/** Returns the fields that identify a peer, or all requested `fields`; get_peer has the rest. */
function briefPeer(item: PeerItem): Readonly<Record<string, unknown>> {
  if (!FIELDS.every((field) => field in item)) return item;
  const { id, name, labels, network, status, agent, expiresAt } = item;
  const { address, phase, online, lastSeenAt } = status ?? {};
  const shown = { address, phase, online, lastSeenAt: online ? undefined : lastSeenAt };
  return { id, name, status: shown, network, labels, agent, expiresAt };
}

export const listPeers = defineHeavyOperation({
  name: 'list_peers',
  title: 'List peers',
  description: 'Peers by name, those of sub-agents too: labels, address, phase and presence.',
  input: z.strictObject({
    ...pageQuery,
    phase: z.enum(PEER_PHASES).optional().describe('In this phase'),
    network: lineOfText(TEXT_LIMITS.name).optional().describe('Its name'),
    prefix: lineOfText(TEXT_LIMITS.name).optional().describe('Of the name'),
    label: lineOfText(TEXT_LIMITS.term).optional().describe('k=v,k!=v'),
    online: z.boolean().optional().describe('Online now'),
    offline_since: instant.optional().describe('Not heard of since'),
    joined_since: instant.optional().describe('Joined after'),
    key_before: instant.optional().describe('Key older than'),
    fields: listOf(z.enum(FIELDS), FIELDS.length).min(1).optional().describe('These alone'),
    ...pastFields,
  }),
  output: z.strictObject({ items: z.array(peerItem), next_cursor: z.string().optional() }),
  brief: ({ items, ...page }) => ({ items: items.map(briefPeer), ...page }),
  columns: Object.fromEntries(
    peerColumns.flatMap(({ title, path, in: tables }) => (tables?.includes('mesh') ? [[title, path]] : [])),
  ),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  proWhen: isAboutPast,
  effects: READ,
  shows: 'MeshPeer',
  cost: pastCost,
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/peers' },
  async run({ fields, ...query }, context) {
    const { state, at, isPast } = await stateFor(context, query);
    // Later heartbeats say nothing about the past.
    const liveness = isPast ? HEARD_OF_NOBODY : context.services.liveness;
    const view = (peer: PeerRecord) => peerView(peer, state, liveness);
    const wanted = livePeers(state, at).filter(peerFilter(state, query, view));
    return pageOf(wanted, query, (peer) => (fields ? withFields(view(peer), fields) : view(peer)));
  },
});

function withFields(view: PeerView, fields: readonly (keyof PeerView)[]): PeerItem {
  const picked = Object.fromEntries(fields.map((field) => [field, view[field]]));
  return { ...picked, id: view.id, name: view.name };
}
