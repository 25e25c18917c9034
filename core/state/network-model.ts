import { memoize } from '../base/memoize.ts';
import { parseInstant } from '../base/time.ts';
import type { AgentRecord, NetworkRecord, PeerRecord, PolicyRecord } from '../model/resources.ts';
import type { DelegationBound, NetworkModel, PeerInput } from '../reachability/model.ts';
import { ancestors, isLive } from './agent-tree.ts';
import type { NetworkState } from './state.ts';

/** Returns the input of the engine: the state at an instant, with the bound of each delegated peer. */
export function modelOf(state: NetworkState, now: number): NetworkModel {
  const peers = [...state.peers.values()];
  const inputs = peerInputs(state, peers, peers, now);
  return {
    networks: networkInputs(state),
    peers: peers.flatMap(({ name }) => inputs.get(name) ?? []),
    policies: policyInputs(state),
    now,
  };
}

/** The inputs of some peers; `delegated` are all that have an agent, at least. */
export function peerInputs(
  state: NetworkState,
  peers: Iterable<PeerRecord>,
  delegated: Iterable<PeerRecord>,
  now: number,
): Map<string, PeerInput> {
  const peerOfAgent = peersOfAgents(delegated);
  const inputs = new Map<string, PeerInput>();
  for (const peer of peers) inputs.set(peer.name, peerInput(state, peer, peerOfAgent, now));
  return inputs;
}

/** In the order of names, so that a past state names the same policy as it did when it was the present one. */
export function policyInputs(state: NetworkState): NetworkModel['policies'] {
  return [...state.policies.values()].map(policyInput).sort(byName);
}

export function networkInputs(state: NetworkState): NetworkModel['networks'] {
  return [...state.networks.values()].map(networkInput);
}

function peerInput(
  state: NetworkState,
  peer: PeerRecord,
  peerOfAgent: ReadonlyMap<string, string>,
  now: number,
): PeerInput {
  const input = ownInput(peer);
  const name = agentOf(peer);
  if (name === undefined) return input;
  const agent = state.agents.get(name);
  if (!agent || !isLive(agent, now)) return { ...input, phase: 'expired' };
  if (peer.spec.delegatedBy !== undefined) return { ...input, bound: issuedBound(state, agent, peerOfAgent, now) };
  return { ...input, bound: boundOf(state, agent, peerOfAgent, now) };
}

/** Name of the agent that a peer is, or came with. */
export function agentOf({ spec }: PeerRecord): string | undefined {
  return spec.agentRef ?? spec.delegatedBy;
}

/** A peer that came with an agent's token opens no more than the agent itself may. */
function issuedBound(
  state: NetworkState,
  agent: AgentRecord,
  peerOfAgent: ReadonlyMap<string, string>,
  now: number,
): DelegationBound {
  return boundOf(state, agent, peerOfAgent, now) ?? { reach: agent.spec.reach ?? [] };
}

const policyInput = memoize(({ name, spec }: PolicyRecord) => ({ name, spec }));
const networkInput = memoize(({ name, spec: { cidr, defaultAction } }: NetworkRecord) => ({
  name,
  cidr,
  defaultAction,
}));
const ownInput = memoize(
  ({ name, uid, labels, spec, status }: PeerRecord): PeerInput => ({
    name,
    uid,
    labels,
    network: spec.network,
    address: status.address ?? undefined,
    phase: status.phase,
    expiresAt: spec.expiresAt === undefined ? undefined : parseInstant(spec.expiresAt),
  }),
);

/** The name of each agent's own peer, by the name of the agent. */
export function peersOfAgents(peers: Iterable<PeerRecord>): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name, spec } of peers) if (spec.agentRef) found.set(spec.agentRef, name);
  return found;
}

/**
 * Returns the most that an agent below another one may open: the engine holds its peer to it, and `core/authority/agent-reach.ts`
 * what it writes. None for a root agent; nothing at all where the line of ancestors is broken or one of them has ended.
 */
export function boundOf(
  state: NetworkState,
  agent: AgentRecord,
  peerOfAgent: ReadonlyMap<string, string>,
  now: number,
): DelegationBound | undefined {
  if (agent.spec.parentRef === undefined) return undefined;
  const line = ancestors(state, agent);
  const root = line.at(-1);
  if (!root || root.spec.parentRef !== undefined || !line.every((ancestor) => isLive(ancestor, now))) {
    return { reach: [] };
  }
  const parent = line[0] ?? root;
  const peer = peerOfAgent.get(parent.name);
  if (peer !== undefined) return { ancestor: peer };
  // A delegated parent had a peer before it could delegate: where that is gone, so is what it passed on.
  return { reach: parent === root ? (root.spec.reach ?? []) : [] };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  if (a.name === b.name) return 0;
  return a.name < b.name ? -1 : 1;
}
