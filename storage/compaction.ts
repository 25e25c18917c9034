import type { Fence } from '../core/base/ports.ts';

/** The type of the log entry that says which old versions were dropped. */
export const COMPACTED = 'history.compacted';

/**
 * Says which old versions are gone from now on: those superseded up to a revision, but for what was in force at some that are kept.
 */
export interface CompactionDetail {
  readonly upTo: number;
  readonly keep: readonly number[];
  /**
   * Written when what reads obey moved, so that both agree until the next such entry. Absent from entries of earlier versions, which
   * wrote none where no version was dropped.
   */
  readonly isMark?: true;
}

/** Tells whether what reads obey changes: an entry of the log says so in the same transaction. */
export function isMoved(
  before: { readonly compacted: number; readonly keep: readonly number[] },
  { upTo, keep }: CompactionDetail,
): boolean {
  return before.compacted !== upTo || before.keep.join() !== keep.join();
}

/** As `Store.compact` is asked for it. */
export interface Compaction {
  readonly workspace: string;
  readonly upTo: number;
  readonly keep: readonly number[];
  readonly fence: Fence | undefined;
}

/** True if a kept revision lies in [from, until); `keep` is ascending. */
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
