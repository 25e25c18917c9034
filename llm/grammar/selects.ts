import { parseInstant } from '../../core/base/time.ts';
import type { PolicySpec, PortEntry } from '../../core/model/policy.ts';
import type { PeerRecord, PolicyRecord } from '../../core/model/resources.ts';
import { selects, selectsEveryone } from '../../core/model/selector.ts';
import type { NetworkState } from '../../core/state/state.ts';

type Direction = 'ingress' | 'egress';

/** Peers that may take part in the network now or once approved. */
export function peersOf(state: NetworkState): PeerRecord[] {
  return [...state.peers.values()].filter(({ status }) => status.phase === 'ready' || status.phase === 'pending');
}

/** Policies that count at an instant. */
export function livePolicies(state: NetworkState, now: number): PolicyRecord[] {
  return [...state.policies.values()].filter(
    ({ spec }) => spec.expiresAt === undefined || parseInstant(spec.expiresAt) > now,
  );
}

/** Whether a policy has a say on a peer as the subject. */
export function isSubject(
  { network, peerSelector }: Pick<PolicySpec, 'network' | 'peerSelector'>,
  peer: PeerRecord,
): boolean {
  return (network === undefined || network === peer.spec.network) && selects(peerSelector ?? {}, peer);
}

/** Tells of a peer whether a direction of it is closed unless some ALLOW rule opens it. */
export function isolation(state: NetworkState, now: number, direction: Direction): (peer: PeerRecord) => boolean {
  const specs = livePolicies(state, now)
    .map(({ spec }) => spec)
    .filter((spec) => applies(spec, direction) && (spec.action === 'ALLOW' || isBase(spec)))
    // A policy on every peer answers at once.
    .sort((a, b) => sizeOf(a) - sizeOf(b));
  return (peer) =>
    state.networks.get(peer.spec.network)?.spec.defaultAction === 'DENY' || specs.some((spec) => isSubject(spec, peer));
}

function sizeOf({ peerSelector, network }: PolicySpec): number {
  return Number(!selectsEveryone(peerSelector)) + Number(network !== undefined);
}

function applies({ ingress, egress }: PolicySpec, direction: Direction): boolean {
  const named = direction === 'ingress' ? ingress : egress;
  return named !== undefined || (ingress === undefined && egress === undefined);
}

/** A DENY without rules isolates and loses to every ALLOW. */
function isBase({ ingress, egress }: PolicySpec): boolean {
  return !ingress?.length && !egress?.length;
}

/** Whether two lists of ports have one in common; an empty one means all. */
export function portsMeet(a: readonly PortEntry[], b: readonly PortEntry[]): boolean {
  if (a.length === 0 || b.length === 0) return true;
  return a.some((one) => b.some((other) => meet(one, other)));
}

const LAST_PORT = 65_535;

function meet(a: PortEntry, b: PortEntry): boolean {
  if ((a.protocol ?? 'TCP') !== (b.protocol ?? 'TCP')) return false;
  const [aFrom, aTo] = [a.port ?? 1, a.endPort ?? a.port ?? LAST_PORT];
  const [bFrom, bTo] = [b.port ?? 1, b.endPort ?? b.port ?? LAST_PORT];
  return aFrom <= bTo && bFrom <= aTo;
}
