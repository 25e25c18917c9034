import { parseInstant } from '../base/time.ts';
import { type CauseOf, endedAt } from '../history/pair/causes.ts';
import { type Moment, readerOf } from '../history/pair/readings.ts';
import { isWithin } from '../reachability/port-sets.ts';
import type { QuestionPair } from './connections.ts';

/** When a connection loses something by time alone, and whose time is over then. */
export interface AccessExpiry {
  readonly at: number;
  readonly causes: readonly CauseOf[];
}

/** The end that is known of what is allowed at a moment; none where nothing of it ends by itself. */
export function accessExpiryOf(pair: QuestionPair, { state, reading }: Moment, now: number): AccessExpiry | undefined {
  const judge = readerOf(pair);
  const records = [...state.policies.values(), ...state.peers.values(), ...state.agents.values()];
  const ends = new Set(
    records.flatMap(({ spec }) => {
      const { expiresAt } = spec as { readonly expiresAt?: string };
      return expiresAt === undefined ? [] : [parseInstant(expiresAt)];
    }),
  );
  const at = [...ends]
    .filter((end) => end > now)
    .sort((a, b) => a - b)
    .find((end) => !isWithin(reading.allowed, judge(state, end).allowed));
  return at === undefined ? undefined : { at, causes: endedAt({ state, at }) };
}
