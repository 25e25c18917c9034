import { MeshError } from '../../base/errors.ts';
import { memoize } from '../../base/memoize.ts';
import { type NetworkChange, planChanges } from '../../changes/changes.ts';
import { type Effect, effectOf } from '../../effect/effect.ts';
import type { NetworkState } from '../../state/state.ts';
import type { NetworkStates } from '../../state/states.ts';
import type { Bounds, State } from '../verify/findings.ts';
import type { Stated } from './check.ts';

/** How far what was expected names what may open and close. */
export function boundsOf(
  expectations: number,
  records: number,
  { plannedBy, expectedBy, callerExpectations = [] }: Stated,
): Bounds {
  if (records > 0) return 'records';
  if (expectations === 0) return 'none';
  if (plannedBy === 'grammar' || plannedBy === 'revert') return 'closing';
  // Earlier versions without a named planner stored the reading of the grammar.
  return expectedBy === undefined && callerExpectations.length === 0 ? 'closing' : 'all';
}

/** Returns the effect, on a state, of the changes that the grammar read in a sentence; computed once per state. */
export function effectOfSaid(
  said: readonly NetworkChange[],
  now: number,
  states: Pick<NetworkStates, 'reachability'>,
): (on: State) => Effect | undefined {
  return memoize(({ before, was }: State) => {
    const after = planned(before, said, now);
    return after && effectOf(was, states.reachability(after, now));
  });
}

/** Undefined where the changes cannot be made, which then ask for nothing. */
function planned(state: NetworkState, changes: readonly NetworkChange[], now: number): NetworkState | undefined {
  try {
    return planChanges(state, changes, now).after;
  } catch (error) {
    if (error instanceof MeshError) return undefined;
    throw error;
  }
}
