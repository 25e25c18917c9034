import type { Fence } from '../core/base/ports.ts';

/** What is called the entry of a log that says which old versions were dropped. */
export const COMPACTED = 'history.compacted';

/** As `Store.compact` is asked for it. */
export interface Compaction {
  readonly workspace: string;
  readonly upTo: number;
  readonly keep: readonly number[];
  readonly fence: Fence | undefined;
}

/** Whether a kept revision lies in [from, until); `keep` is ascending. */
export function isNamed(keep: readonly number[], from: number, until: number): boolean {
  let low = 0;
  let high = keep.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keep[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  const first = keep[low];
  return first !== undefined && first < until;
}
