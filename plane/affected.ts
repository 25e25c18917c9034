import { endsAhead } from '../core/graph/graph-for.ts';
import { RecordMap } from '../core/model/record-map.ts';
import type { PeerRecord } from '../core/model/resources.ts';
import { touching } from '../core/reachability/touching.ts';
import type { NetworkState } from '../core/state/state.ts';
import type { NetworkStates } from '../core/state/states.ts';

/** A state and the instant (ms) at which it was looked at. */
export interface Sight {
  readonly state: NetworkState;
  readonly at: number;
}

/** Names of the peers whose graph may differ between two sights; no others can. */
export function affectedBy(states: Pick<NetworkStates, 'reachability'>, before: Sight, after: Sight): Set<string> {
  const [old, now] = [states.reachability(before.state, before.at), states.reachability(after.state, after.at)];
  if (old === now && before.state.peers === after.state.peers) return new Set();
  const names = touching(old, now);
  // Rules carry the instants at which they end, so what holds then counts too.
  for (const at of endsOf(states, before, after)) {
    for (const name of touching(states.reachability(before.state, at), states.reachability(after.state, at))) {
      names.add(name);
    }
  }
  for (const name of changedPeers(before.state, after.state)) {
    names.add(name);
    for (const reachability of [old, now]) {
      const { outbound, inbound } = reachability.neighbourhood(name);
      for (const neighbour of [...outbound, ...inbound]) names.add(neighbour.name);
    }
  }
  return new Set([...names].filter((name) => after.state.peers.has(name)));
}

function endsOf(states: Pick<NetworkStates, 'reachability'>, before: Sight, after: Sight): Set<number> {
  const ends = [before, after].flatMap(({ state }) => endsAhead(states, state, after.at).map(({ at }) => at));
  return new Set(ends);
}

function* changedPeers(before: NetworkState, after: NetworkState): Generator<string> {
  if (before.peers === after.peers) return;
  const names = RecordMap.changedNames(before.peers, after.peers) ?? after.peers.keys();
  for (const name of names) {
    const [old, peer] = [before.peers.get(name), after.peers.get(name)];
    if (peer !== undefined && old !== peer && (old === undefined || shownOf(old) !== shownOf(peer))) yield name;
  }
}

/** What graphs tell of a peer. */
function shownOf({ uid, spec, status }: PeerRecord): string {
  return JSON.stringify([uid, spec.publicKey, spec.expiresAt, status.phase, status.address]);
}
