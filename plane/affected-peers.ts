import { futureViews, horizonOf } from '../core/graph/future-views.ts';
import { RecordMap } from '../core/model/record-map.ts';
import type { PeerRecord } from '../core/model/resources.ts';
import { changedEndpoints } from '../core/reachability/changed-endpoints.ts';
import type { Reachability } from '../core/reachability/reachability.ts';
import { weightOf } from '../core/reachability/weight.ts';
import type { NetworkState } from '../core/state/state.ts';
import type { NetworkStates } from '../core/state/states.ts';

/** A state and the instant (ms) at which it was looked at. */
export interface StateSnapshot {
  readonly state: NetworkState;
  readonly at: number;
}

/** Weight of all engines that are compared; what is more is not compared. */
const MAX_COMPARED = 5_000_000;

/**
 * Names among some of the peers whose graph may differ between two sights; no others of them can. Where comparing takes
 * long all of them may.
 */
export function affectedBy(
  states: Pick<NetworkStates, 'reachability'>,
  before: StateSnapshot,
  after: StateSnapshot,
  among: ReadonlySet<string>,
): Set<string> {
  // Without anybody to tell, nothing is compiled.
  if (among.size === 0) return new Set();
  if (formerBlocks(before.state) !== formerBlocks(after.state)) return new Set(among);
  const [old, now] = [states.reachability(before.state, before.at), states.reachability(after.state, after.at)];
  if (old === now && before.state.peers === after.state.peers) return new Set();
  const [told, tells] = [before, after].map(({ state, at }) => horizonOf(states, state, at));
  if (told !== tells) return new Set(among);
  const ends = endsOf(states, before, after);
  if ((1 + ends.size) * (workOf(old) + workOf(now)) > MAX_COMPARED) return new Set(among);
  const names = changedEndpoints(old, now);
  // Rules carry the instants at which they end, so what holds then counts too.
  for (const at of ends) {
    for (const name of changedEndpoints(states.reachability(before.state, at), states.reachability(after.state, at))) {
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
  return names.intersection(among);
}

/** Counted, not computed. */
function workOf(reach: Reachability): number {
  return weightOf(reach) + reach.parts.space.classes.length;
}

function endsOf(states: Pick<NetworkStates, 'reachability'>, before: StateSnapshot, after: StateSnapshot): Set<number> {
  const ends = [before, after].flatMap(({ state }) => futureViews(states, state, after.at).map(({ at }) => at));
  return new Set(ends);
}

function* changedPeers(before: NetworkState, after: NetworkState): Generator<string> {
  if (before.peers === after.peers) return;
  const names = RecordMap.changedNames(before.peers, after.peers) ?? after.peers.keys();
  for (const name of names) {
    const [old, peer] = [before.peers.get(name), after.peers.get(name)];
    if (peer !== undefined && old !== peer && (old === undefined || graphFactsOf(old) !== graphFactsOf(peer)))
      yield name;
  }
}

/** A network that is renumbered, or whose old addresses end, concerns all of its peers and their neighbours. */
function formerBlocks({ networks }: NetworkState): string {
  return JSON.stringify(
    [...networks.values()].flatMap(({ name, status: { former } }) =>
      former?.phase === 'carried' ? [[name, former.cidr]] : [],
    ),
  );
}

/** Returns the facts about a peer that graphs contain, as text for comparison. */
function graphFactsOf({ uid, spec, status }: PeerRecord): string {
  return JSON.stringify([uid, spec.publicKey, spec.expiresAt, status.phase, status.address]);
}
