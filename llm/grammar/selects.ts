import type { PolicySpec, PortEntry } from '../../core/model/policy.ts';
import { endOf, isolates, isSubject } from '../../core/model/policy-match.ts';
import type { PeerRecord, PolicyRecord } from '../../core/model/resources.ts';
import { selectsEveryone } from '../../core/model/selector.ts';
import { PortSets } from '../../core/reachability/port-sets.ts';
import type { NetworkState } from '../../core/state/state.ts';

type Direction = 'ingress' | 'egress';

/** Peers that may take part in the network now or once approved. */
export function peersOf(state: NetworkState): PeerRecord[] {
  return [...state.peers.values()].filter(({ status }) => status.phase === 'ready' || status.phase === 'pending');
}

/** Policies that count at an instant. */
export function livePolicies(state: NetworkState, now: number): PolicyRecord[] {
  return [...state.policies.values()].filter(({ spec }) => endOf(spec) > now);
}

/** Tells of a peer whether a direction of it is closed unless some ALLOW rule opens it. */
export function isolation(state: NetworkState, now: number, direction: Direction): (peer: PeerRecord) => boolean {
  const specs = livePolicies(state, now)
    .map(({ spec }) => spec)
    .filter((spec) => isolates(spec, direction))
    // A policy on every peer answers at once.
    .sort((a, b) => sizeOf(a) - sizeOf(b));
  return (peer) =>
    state.networks.get(peer.spec.network)?.spec.defaultAction === 'DENY' || specs.some((spec) => isSubject(spec, peer));
}

function sizeOf({ peerSelector, network }: PolicySpec): number {
  return Number(!selectsEveryone(peerSelector)) + Number(network !== undefined);
}

/** Whether two lists of ports have one in common; an empty one means all. */
export function portsMeet(a: readonly PortEntry[], b: readonly PortEntry[]): boolean {
  const sets = new PortSets();
  return sets.intersects(sets.ofEntries(a), sets.ofEntries(b));
}
