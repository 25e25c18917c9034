import { parseInstant } from '../base/time.ts';
import { effectOf } from '../effect/effect.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import { afterCommit, type NetworkState } from '../state/state.ts';
import type { NetworkStates } from '../state/states.ts';
import type { Compared } from './excess.ts';

/** Instants ahead that are looked at one by one; what ends after them is looked at as if all of it had ended. */
const MAX_INSTANTS = 16;

/**
 * The same change as it will show later: when policies end by their time, and when agents end with the policies they wrote
 * by themselves. What such a policy covers today must not be opened under it unseen.
 */
export function* laterViews(
  { before, after, now }: Pick<Compared, 'before' | 'after' | 'now'>,
  states: Pick<NetworkStates, 'reachability'>,
): Generator<Compared> {
  const ends = endsOf([before, after], now);
  const isWritten = hasWritten(before) || hasWritten(after);
  const instants = [now, ...ends.slice(0, MAX_INSTANTS), ...(ends.length > MAX_INSTANTS ? ends.slice(-1) : [])];
  for (const [index, at] of instants.entries()) {
    if (index > 0) yield compared(before, after, at, states);
    if (isWritten) yield compared(withoutWritten(before), withoutWritten(after), at, states);
  }
}

/** Of what is there before and of what the change itself writes. */
function endsOf(states: readonly NetworkState[], now: number): number[] {
  const policies = states.flatMap((state) => [...state.policies.values()]);
  const ends = policies.flatMap(({ spec }) => (spec.expiresAt === undefined ? [] : [parseInstant(spec.expiresAt)]));
  return [...new Set(ends)].filter((at) => at > now).sort((a, b) => a - b);
}

function hasWritten({ policies }: NetworkState): boolean {
  return [...policies.values()].some(({ annotations }) => annotations[WRITTEN_BY] !== undefined);
}

function withoutWritten(state: NetworkState): NetworkState {
  const gone = [...state.policies.values()].filter(({ annotations }) => annotations[WRITTEN_BY] !== undefined);
  const changes = gone.map((record) => ({ type: 'deleted' as const, record, before: record }));
  return changes.length === 0 ? state : afterCommit(state, { revision: state.revision + 1, changes });
}

function compared(
  before: NetworkState,
  after: NetworkState,
  now: number,
  states: Pick<NetworkStates, 'reachability'>,
): Compared {
  const [was, is] = [states.reachability(before, now), states.reachability(after, now)];
  return { before, after, was, is, effect: effectOf(was, is), now };
}
