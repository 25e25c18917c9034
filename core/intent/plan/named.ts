import { MeshError } from '../../base/errors.ts';
import { memoize } from '../../base/memoize.ts';
import { type NetworkChange, planChanges } from '../../changes/changes.ts';
import { type Effect, type EffectSide, effectOf } from '../../effect/effect.ts';
import type { NetworkState } from '../../state/state.ts';
import type { NetworkStates } from '../../state/states.ts';
import { namedByOrders } from '../orders/judge-orders.ts';
import type { Named } from '../verify/excess.ts';
import type { Bounds, State } from '../verify/findings.ts';
import type { IntentReading, Stated } from './check.ts';

/** Returns how far the expectations or orders bound the connections that may open and close. */
export function boundsOf(
  expectations: number,
  records: number,
  { plannedBy, callerExpectations = [] }: Stated,
  reading?: IntentReading,
): Bounds {
  if (reading) return reading.orders.length > 0 ? 'all' : 'records';
  if (records > 0) return 'records';
  if (expectations === 0) return 'none';
  if (plannedBy === 'grammar' || plannedBy === 'revert') return 'asks';
  // Earlier versions without a named planner stored the reading of the grammar.
  return plannedBy === 'caller' && callerExpectations.length === 0 ? 'asks' : 'all';
}

/** Returns a function of the connections that a reading names in a state, as its peers are after the edits. */
export function namedByReading({ orders, edits }: IntentReading, now: number) {
  const named = namedByOrders(orders);
  const edited = memoize((on: NetworkState) => withChanges(on, edits, now) ?? on);
  return (side: EffectSide, on: NetworkState): readonly Named[] => named(side, edited(on));
}

/** Returns the effect of changes on a state; computed once per state. */
export function effectOfChanges(
  changes: readonly NetworkChange[],
  now: number,
  states: Pick<NetworkStates, 'reachability'>,
): (on: State) => Effect | undefined {
  return memoize(({ before, was }: State) => {
    const after = withChanges(before, changes, now);
    return after && effectOf(was, states.reachability(after, now));
  });
}

/** Returns a state with changes; undefined where they cannot be made, which then ask for nothing. */
export function withChanges(
  state: NetworkState,
  changes: readonly NetworkChange[],
  now: number,
): NetworkState | undefined {
  if (changes.length === 0) return state;
  try {
    return planChanges(state, changes, now).after;
  } catch (error) {
    if (error instanceof MeshError) return undefined;
    throw error;
  }
}
