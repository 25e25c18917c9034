import type { Protocol } from '../network/policy.ts';
import type { Effect } from './effect.ts';

/** Rows shown of each side; how many pairs there are in all stands beside them. */
export const MAX_EFFECT_ROWS = 100;

export interface EffectRow {
  readonly src: string;
  readonly dst: string;
  readonly protocol: Protocol;
  readonly from: number | null;
  readonly to: number | null;
}

/** An effect as answers show it. */
export interface EffectView {
  readonly opened: readonly EffectRow[];
  readonly closed: readonly EffectRow[];
  readonly opened_pairs: number;
  readonly closed_pairs: number;
  readonly unchanged_count: number;
  /** Rows left out of `opened` and `closed` together. */
  readonly omitted: number;
}

export function viewOfEffect(effect: Effect): EffectView {
  const [opened, closed] = [rowsOf(effect, 'opened'), rowsOf(effect, 'closed')];
  return {
    opened: opened.rows,
    closed: closed.rows,
    opened_pairs: effect.openedPairs,
    closed_pairs: effect.closedPairs,
    unchanged_count: effect.unchangedPairs,
    omitted: opened.omitted + closed.omitted,
  };
}

function rowsOf({ groups }: Effect, side: 'opened' | 'closed'): { rows: EffectRow[]; omitted: number } {
  const rows: EffectRow[] = [];
  let total = 0;
  for (const group of groups) {
    const spans = group[side];
    if (spans.length === 0) continue;
    total += group.pairs * spans.length;
    if (rows.length >= MAX_EFFECT_ROWS) continue;
    for (const src of group.src) {
      for (const dst of group.dst) {
        if (src === dst || rows.length >= MAX_EFFECT_ROWS) continue;
        for (const { protocol, from = null, to = null } of spans) rows.push({ src, dst, protocol, from, to });
      }
    }
  }
  const shown = rows.slice(0, MAX_EFFECT_ROWS);
  shown.sort(
    (a, b) =>
      compare(a.src, b.src) ||
      compare(a.dst, b.dst) ||
      compare(a.protocol, b.protocol) ||
      (a.from ?? 0) - (b.from ?? 0),
  );
  return { rows: shown, omitted: total - shown.length };
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
