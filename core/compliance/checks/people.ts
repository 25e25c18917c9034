import type { PeerRecord } from '../../model/resources.ts';
import { isLive, isOpen } from '../../state/agent-tree.ts';
import { agentOf } from '../../state/network-model.ts';
import { counted, holdsUnless, named, nothing } from '../reading.ts';
import { livePeers } from '../view.ts';
import type { StateCheck } from './check.ts';

/** Scopes by which an agent decides about people, tokens or what was proven. */
const ADMINISTRATIVE: ReadonlySet<string> = new Set(['members:write', 'tokens:write', 'intents:override']);

/** That agents hold what their preset gives, and none administers. */
export const boundedAgents: StateCheck = {
  on: 'state',
  judge({ state, at }) {
    const live = [...state.agents.values()].filter((agent) => isLive(agent, at));
    if (live.length === 0) return nothing('There are no agents.');
    const wide = live.filter(({ spec }) => spec.scopes.some((scope) => ADMINISTRATIVE.has(scope)));
    return holdsUnless(
      wide.length > 0 ? [`${named(wide)} ${wide.length === 1 ? 'holds' : 'hold'} an administrative scope`] : [],
      `${counted(live.length, 'agent')}, each held to its preset and the reach of who made it; none holds ${[...ADMINISTRATIVE].join(', ')}.`,
    );
  },
  remedy: () => ({
    text: 'An administrator revokes these agents and makes them again with the scopes that they need (revoke_agent, create_agent).',
    changes: [],
  }),
};

/** That whoever is there was let in: by a token, by its agent, or by a person who approved it. */
export const issuedPeers: StateCheck = {
  on: 'state',
  judge(view) {
    const peers = livePeers(view);
    if (peers.length === 0) return nothing('There are no peers.');
    const unknown = peers.filter((peer) => !isIssued(peer));
    const approved = peers.filter(({ status }) => status.approvedBy !== undefined).length;
    return holdsUnless(
      unknown.length > 0 ? [`of ${named(unknown)} it is not known which token or person let it in`] : [],
      `Each of ${counted(peers.length, 'peer')} came with a token or an agent; by a person were approved besides: ${approved}.`,
    );
  },
  remedy: () => ({
    text: 'An operator deletes these peers, and their owners enrol them again with a join token (delete_peer, generate_join_token).',
    changes: [],
  }),
};

function isIssued(peer: PeerRecord): boolean {
  const { tokenId, approvedBy } = peer.status;
  return tokenId !== undefined || approvedBy !== undefined || agentOf(peer) !== undefined;
}

/** That an agent whose time is over, or who was revoked, has no peer any more. */
export const endedAgentsGone: StateCheck = {
  on: 'state',
  judge(view) {
    const { state } = view;
    if (state.agents.size === 0) return nothing('There are no agents.');
    const left = livePeers(view).filter((peer) => {
      const agent = state.agents.get(agentOf(peer) ?? '');
      return agent !== undefined && !isOpen(agent);
    });
    return holdsUnless(
      left.length > 0 ? [`${named(left)} is left of an agent that has ended`] : [],
      `${counted(state.agents.size, 'agent')}; of those that ended no peer is left.`,
    );
  },
  remedy: () => ({ text: 'An operator deletes the peers that are left (delete_peer).', changes: [] }),
};
