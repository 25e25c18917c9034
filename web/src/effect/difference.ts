import type { Effect, EffectRow } from '../api/types.ts';

export interface Difference {
  readonly opened: readonly EffectRow[];
  readonly closed: readonly EffectRow[];
  readonly notOpened: readonly EffectRow[];
  readonly notClosed: readonly EffectRow[];
}

/** What a change does now and did not when it was put forward, and the other way round; of the rows that answers show. */
export function differenceOf(then: Effect, now: Effect): Difference {
  return {
    opened: without(now.opened, then.opened),
    closed: without(now.closed, then.closed),
    notOpened: without(then.opened, now.opened),
    notClosed: without(then.closed, now.closed),
  };
}

function without(rows: readonly EffectRow[], others: readonly EffectRow[]): EffectRow[] {
  const known = new Set(others.map(keyOf));
  return rows.filter((row) => !known.has(keyOf(row)));
}

function keyOf({ src, dst, protocol, from, to }: EffectRow): string {
  return JSON.stringify([src, dst, protocol, from, to]);
}
