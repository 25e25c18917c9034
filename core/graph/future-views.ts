import { parseInstant } from '../base/time.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { MAX_WEIGHT, weightOf } from '../reachability/weight.ts';
import type { NetworkState } from '../state/state.ts';
import type { NetworkStates } from '../state/states.ts';

/** The engine at a later instant at which policies end. */
export interface FutureView {
  readonly at: number;
  readonly reachability: Reachability;
}

/** Ends of policies that a graph tells apart; what ends later is told to end with the last of them, and renewed before. */
const ENDS_AHEAD = 32;
/** Weight of all engines that tell of them, so that fewer ends of a heavy network are told apart. */
const WEIGHT_AHEAD = MAX_WEIGHT;
/** So that what ends later is told anew before the nodes drop it. */
const LEAST_ENDS = 2;

/** The instants at which policies end, so that a node drops their rules by itself. */
export function futureViews(
  states: Pick<NetworkStates, 'reachability'>,
  state: NetworkState,
  now: number,
): FutureView[] {
  const { instants, most } = endsOf(states, state, now);
  const last = instants.at(-1);
  if (last === undefined) return [];
  return instants.slice(0, most).map((at, index) => {
    const seenAs = index === most - 1 ? last : at;
    return { at, reachability: states.reachability(state, seenAs) };
  });
}

/** With what all that ends later is told to end; undefined where each end is told. Who was told another has to be told anew. */
export function horizonOf(
  states: Pick<NetworkStates, 'reachability'>,
  state: NetworkState,
  now: number,
): number | undefined {
  const { instants, most } = endsOf(states, state, now);
  return instants.length > most ? instants[most - 1] : undefined;
}

/**
 * The instant that pushed graphs of a state show: before the end of a policy that is still there. Nodes end by themselves what
 * it opened; what it closed they hear of by its deletion, for of two graphs with one version a node takes the first.
 */
export function graphInstantOf({ policies }: Pick<NetworkState, 'policies'>, now: number): number {
  let at = now;
  for (const { spec } of policies.values()) {
    const end = spec.expiresAt === undefined ? Number.NaN : parseInstant(spec.expiresAt);
    if (end <= at) at = end - 1;
  }
  return at;
}

function endsOf(states: Pick<NetworkStates, 'reachability'>, state: NetworkState, now: number) {
  const ends = new Set<number>();
  for (const { spec } of state.policies.values()) {
    const at = spec.expiresAt === undefined ? Number.NaN : parseInstant(spec.expiresAt);
    if (at > now) ends.add(at);
  }
  const instants = [...ends].sort((a, b) => a - b);
  if (instants.length === 0) return { instants, most: ENDS_AHEAD };
  const bearable = Math.floor(WEIGHT_AHEAD / weightOf(states.reachability(state, now)));
  return { instants, most: Math.max(LEAST_ENDS, Math.min(ENDS_AHEAD, bearable)) };
}
