import { textAt, type Word } from '../grammar/tokens.ts';
import type { Clocks } from '../grammar/zones.ts';
import { type ClockTime, clockTimeAt, inPart, instantAtClock } from './clock-times.ts';
import { DAY_MS, type DayPhrase, dayPhraseAt, HOUR_MS, midnight } from './days.ts';

/** Two times of one day, as they stand up to the word before `end`. Milliseconds. */
export interface ClockRange {
  readonly from: number;
  readonly to: number;
  readonly end: number;
}

const JOINS: ReadonlySet<string> = new Set(['to', 'until', 'till', 'through', '-']);

/**
 * `between 6 and 7 pm`, `today from 18:48 to 18:50`, `between 9 and 10 this morning`, `18:48 to 18:50 on Monday`. The half of
 * the day is said once for both; the range may cross midnight. Without a day it is the last one that has begun.
 */
export function clockRangeAt(words: readonly Word[], start: number, clocks: Clocks): ClockRange | undefined {
  const before = dayPhraseAt(words, start, clocks);
  const lead = before ? pastComma(words, before.end) : start;
  const isBetween = textAt(words, lead) === 'between';
  const isLed = isBetween || textAt(words, lead) === 'from';
  const inside = isLed && !before ? dayPhraseAt(words, lead + 1, clocks) : undefined;
  const first = clockAfterAt(words, inside?.end ?? (isLed ? lead + 1 : lead), isLed);
  if (!first || !(isBetween ? textAt(words, first.end) === 'and' : JOINS.has(textAt(words, first.end))))
    return undefined;
  const second = clockAfterAt(words, first.end + 1, isLed || first.isPlainClock);
  if (!second || !(isLed || first.isPlainClock || second.isPlainClock)) return undefined;
  const after = dayPhraseAt(words, second.end, clocks);
  // `between 18:00 on Monday and 9:00 on Tuesday` are two moments.
  if (after && (before ?? inside)) return undefined;
  const day = before ?? inside ?? after;
  return rangeIn(day, first, second, Math.max(second.end, after?.end ?? 0), clocks);
}

function rangeIn(
  day: DayPhrase | undefined,
  first: ClockTime,
  second: ClockTime,
  end: number,
  clocks: Clocks,
): ClockRange {
  const last = inPart(second, day?.part);
  const begin = sameHalf(inPart(first, day?.part), last, day);
  const { zone } = second;
  const zoned = { ...begin, ...(begin.zone === undefined && zone !== undefined && { zone }) };
  const isOverMidnight = begin.ms >= 12 * HOUR_MS && last.ms < 12 * HOUR_MS;
  const until = isOverMidnight ? last.ms + DAY_MS : last.ms;
  const at = (wall: number, clock: Pick<ClockTime, 'ms' | 'zone'>) => instantAtClock(wall, clock, clocks);
  const today = midnight(clocks);
  const wall = day?.wall ?? (at(today, zoned) > clocks.now ? today - DAY_MS : today);
  const [from, to] = [at(wall, zoned), at(wall, { ...last, ms: until })];
  return { from, to: from < clocks.now ? Math.min(to, clocks.now) : to, end };
}

/** `between 6 and 7 pm`: both in the afternoon; `between 11 and 1 pm` begins before noon. */
function sameHalf(first: ClockTime, last: ClockTime, day: DayPhrase | undefined): ClockTime {
  if (day?.part !== undefined || !first.isHalfOpen || last.isHalfOpen) return first;
  const early = first.ms % (12 * HOUR_MS);
  const half = last.ms >= 12 * HOUR_MS && early + 12 * HOUR_MS < last.ms ? 12 * HOUR_MS : 0;
  return { ...first, ms: early + half };
}

/** A time that is one wherever it stands, `18:48`, or an hour alone. */
function clockAfterAt(words: readonly Word[], start: number, isBare: boolean) {
  const at = textAt(words, start) === 'at' ? start + 1 : start;
  const plain = clockTimeAt(words, at, false);
  if (plain) return { ...plain, isPlainClock: true };
  const clock = isBare ? clockTimeAt(words, at, true) : undefined;
  return clock && { ...clock, isPlainClock: false };
}

function pastComma(words: readonly Word[], at: number): number {
  return textAt(words, at) === ',' ? at + 1 : at;
}
