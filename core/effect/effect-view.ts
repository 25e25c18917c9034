import type { Protocol } from '../model/policy.ts';
import { type Effect, outsidePairs } from './effect.ts';
import type { PortSpan } from './port-spans.ts';
import { type RouteView, routeViews } from './routes.ts';

/** Rows shown of each side, in whole pairs; how many pairs there are in all stands beside them. */
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
  /** Route changes, public blocks first; absent in what was stored before they were told. */
  readonly routes?: RouteView[];
  readonly opened: EffectRow[];
  readonly closed: EffectRow[];
  readonly opened_pairs: number;
  readonly closed_pairs: number;
  /** Pairs of a peer and a term of addresses outside of the network; absent in what was stored before there were any. */
  readonly opened_outside?: number;
  readonly closed_outside?: number;
  readonly unchanged_count: number;
  /** Rows left out of `opened` and `closed` together. */
  readonly omitted: number;
}

export function effectView(effect: Effect): EffectView {
  const [opened, closed] = [rowsOf(effect, 'opened'), rowsOf(effect, 'closed')];
  return {
    routes: routeViews(effect.routes.slice(0, MAX_EFFECT_ROWS)),
    opened: opened.rows,
    closed: closed.rows,
    opened_pairs: effect.openedPairs,
    closed_pairs: effect.closedPairs,
    opened_outside: outsidePairs(effect, 'opened'),
    closed_outside: outsidePairs(effect, 'closed'),
    unchanged_count: effect.unchangedPairs,
    omitted: opened.omitted + closed.omitted,
  };
}

/** Peers first: addresses outside have the places that are left. */
function rowsOf({ groups, outside = [] }: Effect, side: 'opened' | 'closed'): { rows: EffectRow[]; omitted: number } {
  const rows: EffectRow[] = [];
  let total = 0;
  // A part of what a pair may do would read as all of it.
  const isFull = (more: number) => rows.length > 0 && rows.length + more > MAX_EFFECT_ROWS;
  const add = (src: readonly string[], dst: readonly string[], pairs: number, spans: readonly PortSpan[]) => {
    if (spans.length === 0) return;
    total += pairs * spans.length;
    if (isFull(spans.length)) return;
    for (const one of src) {
      for (const other of dst) {
        if (one === other || isFull(spans.length)) continue;
        for (const { protocol, from = null, to = null } of spans)
          rows.push({ src: one, dst: other, protocol, from, to });
      }
    }
  };
  for (const group of groups) add(group.src, group.dst, group.pairs, group[side]);
  for (const group of outside) {
    const [src, dst] = group.side === 'src' ? [group.names, group.peers] : [group.peers, group.names];
    add(src, dst, src.length * dst.length, group[side]);
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
