import { allRulesOf } from '../../model/policy-match.ts';
import type { NetworkRecord, PeerRecord } from '../../model/resources.ts';
import type { NetworkState } from '../../state/state.ts';

/** Returns a network in which all is open but for the rules of its DENY policies: nothing isolates, and no peer waits or is bound. */
export function onlyDenials(state: NetworkState): NetworkState {
  return {
    ...state,
    peers: mapped(state.peers, free),
    networks: mapped(state.networks, open),
    policies: new Map(
      [...state.policies].filter(([, { spec }]) => spec.action === 'DENY' && allRulesOf(spec).length > 0),
    ),
  };
}

function free(peer: PeerRecord): PeerRecord {
  const { agentRef: _agent, delegatedBy: _issuer, ...spec } = peer.spec;
  return { ...peer, spec, status: { ...peer.status, phase: 'ready' } };
}

function open(network: NetworkRecord): NetworkRecord {
  return { ...network, spec: { ...network.spec, defaultAction: 'ALLOW' } };
}

function mapped<T>(records: ReadonlyMap<string, T>, change: (record: T) => T): Map<string, T> {
  return new Map([...records].map(([name, record]) => [name, change(record)]));
}
