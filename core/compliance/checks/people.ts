import type { StoredRecord } from '../../base/record.ts';
import { NEVER_DELEGATED, PERSON_ONLY_SCOPES } from '../../base/scope.ts';
import { parseInstant } from '../../base/time.ts';
import { endOf } from '../../history/network-moments.ts';
import type { PeerRecord } from '../../model/resources.ts';
import { isLive, isOpen } from '../../state/agent-tree.ts';
import { agentOf } from '../../state/network-model.ts';
import { counted, holdsUnless, named, nothing } from '../check-result.ts';
import { livePeers } from '../view.ts';
import type { StateCheck } from './check.ts';

/** Scopes by which an agent decides about people, devices, tokens or plans that something speaks against. */
const ADMINISTRATIVE: ReadonlySet<string> = new Set([...NEVER_DELEGATED, ...PERSON_ONLY_SCOPES]);

/** Checks that agents hold only what their preset gives, and that none is an administrator. */
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

/** Checks that a token, an agent or an approver admitted every peer. */
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

/** The time within which ended records are removed, ms. */
const GRACE_MS = 10 * 60_000;

/** Checks that no peer outlives its expiry, nor an agent that has ended or was revoked. */
export const endedAgentsGone: StateCheck = {
  on: 'state',
  atEachMoment: true,
  judge({ state, at }) {
    const isOver = (end: string | undefined) => end !== undefined && parseInstant(end) + GRACE_MS <= at;
    const peers = [...state.peers.values()].filter(
      ({ status }) => status.phase === 'ready' || status.phase === 'pending',
    );
    const bounded = peers.filter((peer) => agentOf(peer) !== undefined || peer.spec.expiresAt !== undefined);
    if (state.agents.size === 0 && bounded.length === 0)
      return nothing('There are no agents, and no peers with an end.');
    const orphans = bounded.filter((peer) => {
      const name = agentOf(peer);
      if (name === undefined) return false;
      const agent = state.agents.get(name);
      return agent === undefined || !isOpen(agent);
    });
    const late = bounded.filter((peer) => !orphans.includes(peer) && isOver(peer.spec.expiresAt));
    const open = [...state.agents.values()].filter((agent) => isOpen(agent) && isOver(agent.spec.expiresAt));
    const minutes = `${GRACE_MS / 60_000} minutes`;
    return holdsUnless(
      [
        ...(orphans.length > 0 ? [`${named(orphans)} is left of an agent that has ended`] : []),
        ...(open.length > 0 ? [`${named(open)} was to end more than ${minutes} ago and has not been ended`] : []),
        ...(late.length > 0 ? [`${named(late)} was to end more than ${minutes} ago and is still there`] : []),
      ],
      `${counted(state.agents.size, 'agent')} and ${counted(bounded.length, 'peer')} with an end; of those that ended nothing is left after ${minutes}.`,
    );
  },
  remedy: () => ({
    text: 'An operator deletes the peers that are left and revokes the agents (delete_peer, revoke_agent); the host administrator finds out why the control plane did not.',
    changes: [],
  }),
};

/** Instants from which on what ended should have been taken away. */
export function graceDeadlines(record: StoredRecord): number[] {
  return endOf(record).map((end) => end + GRACE_MS);
}
