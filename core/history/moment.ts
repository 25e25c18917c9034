import type { NetworkState } from '../state/state.ts';

/** A state and the instant it is looked at, ms: expiries count from it. */
export interface Moment {
  readonly state: NetworkState;
  readonly at: number;
}

export function isForwards(from: Moment, to: Moment): boolean {
  return from.state.revision <= to.state.revision;
}
