import { type CauseOf, causesOf } from './causes.ts';
import type { PairRecords } from './pair-records.ts';
import { type Moment, momentsOf, type PairQuestion, readerOf, sameReading } from './readings.ts';

/** A moment at which a connection became another one than it was. */
export interface Flip {
  readonly before: Moment;
  readonly after: Moment;
  /** None where the revision did it and nothing of it can be singled out. */
  readonly causes: readonly CauseOf[];
}

export interface PairHistory {
  readonly first: Moment;
  readonly flips: readonly Flip[];
}

/** Every flip of a connection in a range, in order: by revisions, and by time alone. */
export function pairHistory(records: PairRecords, since: number, question: PairQuestion): PairHistory {
  const judge = readerOf(question);
  const alone = readerOf(question);
  const flips: Flip[] = [];
  let first: Moment | undefined;
  let before: Moment | undefined;
  for (const after of momentsOf(records, since, judge)) {
    if (before && !sameReading(before.reading, after.reading)) {
      flips.push({ before, after, causes: causesOf(before, after, alone) });
    }
    first ??= after;
    before = after;
  }
  if (!first) throw new TypeError('A range has a beginning.');
  return { first, flips };
}
