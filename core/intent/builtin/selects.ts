import type { PolicySpec } from '../../network/policy.ts';
import type { PeerRecord, PolicyRecord } from '../../network/resources.ts';
import { selects } from '../../network/selector.ts';
import type { NetworkState } from '../../network/state.ts';
import { parseInstant } from '../../time.ts';

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
export function isSubject({ network, peerSelector }: PolicySpec, peer: PeerRecord): boolean {
  return (network === undefined || network === peer.spec.network) && selects(peerSelector ?? {}, peer.labels);
}

/** Whether a direction of a peer is closed unless some ALLOW rule opens it. */
export function isIsolated(
  state: NetworkState,
  now: number,
  peer: PeerRecord,
  direction: 'ingress' | 'egress',
): boolean {
  if (state.networks.get(peer.spec.network)?.spec.defaultAction === 'DENY') return true;
  return livePolicies(state, now).some(
    ({ spec }) => isSubject(spec, peer) && applies(spec, direction) && (spec.action === 'ALLOW' || isBase(spec)),
  );
}

function applies({ ingress, egress }: PolicySpec, direction: 'ingress' | 'egress'): boolean {
  const named = direction === 'ingress' ? ingress : egress;
  return named !== undefined || (ingress === undefined && egress === undefined);
}

/** A DENY without rules isolates and loses to every ALLOW. */
function isBase({ ingress, egress }: PolicySpec): boolean {
  return !ingress?.length && !egress?.length;
}
