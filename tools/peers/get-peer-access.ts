import { z } from 'zod';
import { stateAfter } from '../../core/authority/state-after.ts';
import { writesOf } from '../../core/authority/writes.ts';
import { READ } from '../../core/base/operation.ts';
import { admission } from '../../core/peers/peers.ts';
import { allowedSchema } from '../../core/reachability/answers.ts';
import { type AccessRow, peerAccess } from '../../core/reachability/peer-access.ts';
import { groupsOf } from '../../core/state/peer-groups.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { findLivePeerOrHost } from '../../core/views/peer-view.ts';
import { defineHeavyOperation } from '../define.ts';
import { isAboutPast, pastCost, pastFields, stateFor } from '../past.ts';
import { idField } from '../resources/resource-fields.ts';

/** Rows of one direction. */
const MAX_ROWS = 100;

const row = z.strictObject({
  who: z.array(z.string()).describe('Peers by labels and names'),
  count: z.int().describe('Of those peers'),
  outside: z.array(z.string()).describe('Addresses outside of the networks; `outside` for all'),
  allowed: allowedSchema,
  policies: z.array(z.string()).describe('That let it through; none: nothing isolates either side'),
});

export const getPeerAccess = defineHeavyOperation({
  name: 'get_peer_access',
  title: 'Show what a peer reaches and who reaches it',
  description:
    'By policy, in both directions, with the policies that let it through, and how the peer joined. Of a peer that is not let in: what it would be once it is.',
  input: z.strictObject({ id: idField, ...pastFields }),
  output: z.strictObject({
    once_let_in: z.boolean().describe('The peer is pending or revoked: nothing of this is so yet'),
    reaches: z.array(row),
    reached_by: z.array(row),
    omitted: z.int().describe('Rows left out'),
    joined: z.strictObject({
      token: z.string().nullable().describe('Name of the token it came with; null where that is gone'),
      token_by: z.string().nullable().describe('Who made that token'),
      workload: z
        .strictObject({ issuer: z.string(), subject: z.string() })
        .nullable()
        .describe('OIDC identity with which a workload joined'),
    }),
  }),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  proWhen: isAboutPast,
  effects: READ,
  cost: pastCost,
  problems: ['invalid_input', 'not_found', 'conflict', 'expired'],
  http: { method: 'get', path: '/api/v1/peers/:id/access' },
  async run({ id, ...query }, context) {
    const { services, workspace } = context;
    const { states, store } = services;
    const { state: known, at } = await stateFor(context, query);
    const peer = findLivePeerOrHost(known, id, at);
    const isIn = peer.status.phase === 'ready';
    const find = ({ kind, name }: { readonly kind: string; readonly name: string }) =>
      kind === 'MeshPeer' ? known.peers.get(name) : kind === 'AgentIdentity' ? known.agents.get(name) : undefined;
    const state = isIn ? known : stateAfter(known, writesOf(admission(known, peer, at), find));
    const { reaches, reachedBy } = peerAccess(states.reachability(state, at), peer.name);
    const { tokenId, tokenBy, workload } = peer.status;
    const token = tokenId === undefined ? undefined : await store.getById(workspace, 'Token', tokenId);
    const shown = (rows: readonly AccessRow[]) => rows.slice(0, MAX_ROWS).map((one) => rowView(one, state, peer.name));
    return {
      once_let_in: !isIn,
      reaches: shown(reaches),
      reached_by: shown(reachedBy),
      omitted: Math.max(0, reaches.length - MAX_ROWS) + Math.max(0, reachedBy.length - MAX_ROWS),
      joined: { token: token?.spec.name ?? null, token_by: tokenBy ?? null, workload: workload ?? null },
    };
  },
});

function rowView(
  { others, outside, allowed, policies }: AccessRow,
  state: NetworkState,
  peer: string,
): z.input<typeof row> {
  const who = groupsOf([...others], state, [peer]);
  return { who, count: others.length, outside: [...outside], allowed, policies: [...policies] };
}
