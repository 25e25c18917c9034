import { parseInstant } from '../../core/base/time.ts';
import { instantOfWall } from '../../core/base/time-zone.ts';
import { spanAt } from '../grammar/times.ts';
import { textAt, type Word } from '../grammar/tokens.ts';
import type { Clocks } from '../grammar/zones.ts';
import { clockTimeAt, inPart, instantAtClock } from './clock-times.ts';
import {
  DAY_MS,
  type DayPhrase,
  dateOf,
  dayPhraseAt,
  HOUR_MS,
  midnight,
  PARTS,
  type PartOfDay,
  wallDate,
  weekdayOf,
} from './days.ts';

/** A moment or a time as it stands in a question up to the word before `end`. Milliseconds; a moment begins and ends at once. */
export interface Moment {
  readonly from: number;
  readonly to: number;
  readonly end: number;
}

/** Nobody knows the minute: the clock that is said is meant. */
export const ABOUT: ReadonlySet<string> = new Set(['about', 'around', 'approximately', 'roughly', 'circa', 'ca']);

/** The moment or time that begins at a word; undefined where none does. `at 3` is 03:00, `last tuesday` is before today. */
export function momentAt(words: readonly Word[], start: number, clocks: Clocks): Moment | undefined {
  const begin = ['at', 'on', 'in', 'during', 'over', 'within', 'for'].includes(textAt(words, start))
    ? start + 1
    : start;
  const at = ABOUT.has(textAt(words, begin)) ? begin + 1 : begin;
  const isAfterAt = textAt(words, start) === 'at';
  return (
    instantAt(words, at, clocks) ??
    agoAt(words, at, clocks) ??
    pastAt(words, at, clocks) ??
    dayAndClockAt(words, at, clocks) ??
    clockAndDayAt(words, at, clocks, isAfterAt) ??
    calendarAt(words, at, clocks)
  );
}

/** `2026-01-05T12:00:00Z`; without a zone by the clocks. */
function instantAt(words: readonly Word[], at: number, { timeZone }: Clocks): Moment | undefined {
  const word = textAt(words, at).toUpperCase();
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(word)) return undefined;
  const isZoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(word);
  const instant = parseInstant(isZoned ? word : `${word}Z`);
  return Number.isNaN(instant) ? undefined : pointOf(isZoned ? instant : instantOfWall(instant, timeZone), at + 1);
}

/** `two hours ago`, `an hour ago`; `two days ago at 3` is that day. */
function agoAt(words: readonly Word[], at: number, clocks: Clocks): Moment | undefined {
  const span = spanAt(words, at, false);
  if (!span || !['ago', 'back', 'earlier'].includes(textAt(words, span.end))) return undefined;
  const end = span.end + 1;
  if (span.ms % DAY_MS === 0) {
    const day = withinDayAt(words, { wall: midnight(clocks) - span.ms, end }, clocks);
    if (day.end > end) return day;
  }
  return pointOf(clocks.now - span.ms, end);
}

/** `the last two hours`, `the past week`: up to now. */
function pastAt(words: readonly Word[], at: number, { now }: Clocks): Moment | undefined {
  const isThe = textAt(words, at) === 'the';
  const last = isThe ? at + 1 : at;
  if (!['last', 'past', 'previous'].includes(textAt(words, last))) return undefined;
  const counted = spanAt(words, last + 1, false);
  const span = counted ?? (isThe ? spanAt(words, last + 1, true) : undefined);
  return span && { from: now - span.ms, to: now, end: span.end };
}

/** `yesterday`, `this evening at 6`, `last tuesday at 3`, `2026-01-05 15:00`. */
function dayAndClockAt(words: readonly Word[], at: number, clocks: Clocks): Moment | undefined {
  const day = dayPhraseAt(words, at, clocks);
  return day && withinDayAt(words, day, clocks);
}

/** A day, the part of it that is said, or the hour that follows. */
function withinDayAt(words: readonly Word[], { wall, part, end }: DayPhrase, clocks: Clocks): Moment {
  const isAfterAt = textAt(words, end) === 'at' || ABOUT.has(textAt(words, end));
  const clock = clockTimeAt(words, isAfterAt ? end + 1 : end, isAfterAt);
  if (clock) return pointOf(instantAtClock(wall, inPart(clock, part), clocks), clock.end);
  return part === undefined ? spanOfWall(wall, wall + DAY_MS, end, clocks) : partOf(wall, part, end, clocks);
}

/** `15:00 yesterday`, `at 6 this evening`, `noon`: without a day the last time that the clocks showed it. */
function clockAndDayAt(words: readonly Word[], at: number, clocks: Clocks, isAfterAt: boolean): Moment | undefined {
  const clock = clockTimeAt(words, at, isAfterAt);
  if (!clock) return undefined;
  const named = dayPhraseAt(words, clock.end, clocks);
  if (named) return pointOf(instantAtClock(named.wall, inPart(clock, named.part), clocks), named.end);
  const today = instantAtClock(midnight(clocks), clock, clocks);
  const isToCome = today > clocks.now;
  return pointOf(isToCome ? instantAtClock(midnight(clocks) - DAY_MS, clock, clocks) : today, clock.end);
}

/** `last week`, `this month`, `last year`: of the calendar; weeks begin on Monday. */
function calendarAt(words: readonly Word[], at: number, clocks: Clocks): Moment | undefined {
  const [which, unit] = [textAt(words, at), textAt(words, at + 1)];
  if (which !== 'last' && which !== 'this') return undefined;
  const today = midnight(clocks);
  const back = which === 'last' ? 1 : 0;
  const [year, month] = dateOf(today);
  const span = (from: number, to: number): Moment => ({
    from: instantOfWall(from, clocks.timeZone),
    to: Math.min(clocks.now, instantOfWall(to, clocks.timeZone)),
    end: at + 2,
  });
  if (unit === 'week') {
    const monday = today - ((weekdayOf(today) + 6) % 7) * DAY_MS - back * 7 * DAY_MS;
    return span(monday, monday + 7 * DAY_MS);
  }
  if (unit === 'month') return span(wallDate(year, month - back, 1), wallDate(year, month - back + 1, 1));
  return unit === 'year' ? span(wallDate(year - back, 0, 1), wallDate(year - back + 1, 0, 1)) : undefined;
}

function partOf(wall: number, part: PartOfDay, end: number, clocks: Clocks): Moment {
  const [from, to] = PARTS[part];
  return spanOfWall(wall + from * HOUR_MS, wall + to * HOUR_MS, end, clocks);
}

/** A time that has begun ends now at the latest. */
function spanOfWall(from: number, to: number, end: number, { now, timeZone }: Clocks): Moment {
  const begin = instantOfWall(from, timeZone);
  return { from: begin, to: Math.max(begin, Math.min(now, instantOfWall(to, timeZone))), end };
}

function pointOf(at: number, end: number): Moment {
  return { from: at, to: at, end };
}
