import type { CauseOf } from './causes.ts';
import type { PairHistory } from './flips.ts';
import type { Range } from './range.ts';
import { type Moment, type Reading, sameReading } from './readings.ts';

/** A span in which a connection stayed as it was: up to but without `to`. */
export interface Interval {
  readonly from: number;
  readonly to: number;
  /** Null where the past is not known. */
  readonly moment: Moment | null;
  /** Causes of its beginning; none for the first. */
  readonly causes: readonly CauseOf[];
}

/**
 * A range cut where a connection flipped, without a gap. What held for no time at all is left out, as where two commits
 * came in one instant; a range of one instant is one interval.
 */
export function intervalsOf({ first, flips }: PairHistory, { from, to, since }: Range): Interval[] {
  const begins = [
    ...(since > from ? [{ from, moment: null, causes: [] }] : []),
    { from: since, moment: first, causes: [] },
    ...flips.map(({ after, causes }) => ({ from: after.at, moment: after, causes })),
  ];
  const intervals: Interval[] = [];
  for (const [index, begin] of begins.entries()) {
    const end = begins[index + 1]?.from ?? to;
    const isLast = index === begins.length - 1;
    if (end === begin.from && !(isLast && intervals.at(-1)?.to !== to)) continue;
    const before = intervals.at(-1);
    const isSame = before?.moment && begin.moment && sameReading(before.moment.reading, begin.moment.reading);
    if (before && isSame) intervals[intervals.length - 1] = { ...before, to: end };
    else intervals.push({ ...begin, to: end });
  }
  return intervals;
}

/** Returns the fields of a reading that stay the same until a connection flips. */
export function readingView({ verdict, allowed, usable }: Reading) {
  return { verdict, allowed, usable };
}
