import { formatInstant, parseInstant } from '../../core/base/time.ts';
import { instantOfWall, wallTime } from '../../core/base/time-zone.ts';
import { clockAt } from '../grammar/clocks.ts';
import { dayNumber, monthOf, WEEKDAYS } from '../grammar/moments.ts';
import { spanAt } from '../grammar/times.ts';
import { textAt, type Word } from '../grammar/tokens.ts';
import { type Clocks, zoneAt } from '../grammar/zones.ts';
import { withoutSeconds } from './words.ts';

/** A moment or a time as it stands in a question up to the word before `end`. Milliseconds; a moment begins and ends at once. */
export interface Moment {
  readonly from: number;
  readonly to: number;
  readonly end: number;
}

/** A day by the clocks of the zone, from its midnight on, written as if it were UTC. */
interface Day {
  readonly wall: number;
  readonly end: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** 1970-01-01 was a Thursday. */
const EPOCH_WEEKDAY = 4;
/** Hours of the day, from and to. */
const PARTS: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['morning', [6, 12]],
  ['afternoon', [12, 18]],
  ['evening', [18, 24]],
  ['night', [22, 30]],
]);

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
    partOfTodayAt(words, at, clocks) ??
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

/** `this morning`, `tonight`, `last night`. */
function partOfTodayAt(words: readonly Word[], at: number, clocks: Clocks): Moment | undefined {
  const [word, next] = [textAt(words, at), textAt(words, at + 1)];
  if (word === 'tonight') return partOf(midnight(clocks), 'evening', at + 1, clocks);
  if (word === 'last' && next === 'night') return partOf(midnight(clocks) - DAY_MS, next, at + 2, clocks);
  return word === 'this' && PARTS.has(next) ? partOf(midnight(clocks), next, at + 2, clocks) : undefined;
}

/** `yesterday`, `yesterday evening`, `last tuesday at 3`, `2026-01-05 15:00`. */
function dayAndClockAt(words: readonly Word[], at: number, clocks: Clocks): Moment | undefined {
  const day = dayAt(words, at, clocks);
  return day && withinDayAt(words, day, clocks);
}

/** `15:00 yesterday`, `at 3 on tuesday`, `noon`: without a day the last time that the clocks showed it. */
function clockAndDayAt(words: readonly Word[], at: number, clocks: Clocks, isAfterAt: boolean): Moment | undefined {
  const clock = hourAt(words, at, isAfterAt);
  if (!clock) return undefined;
  const named = dayOfClockAt(words, textAt(words, clock.end) === 'on' ? clock.end + 1 : clock.end, clock, clocks);
  if (named) return pointOf(instantAtClock(named.wall, clock, clocks), named.end);
  const today = instantAtClock(midnight(clocks), clock, clocks);
  const isToCome = today > clocks.now;
  return pointOf(isToCome ? instantAtClock(midnight(clocks) - DAY_MS, clock, clocks) : today, clock.end);
}

/** The day behind a clock, whose part says nothing more: `9:10 this morning`, `15:00 yesterday afternoon`. */
function dayOfClockAt(words: readonly Word[], at: number, { ms }: ClockTime, clocks: Clocks): Day | undefined {
  const [word, next] = [textAt(words, at), textAt(words, at + 1)];
  const isLastNight = word === 'last' && next === 'night';
  if (isLastNight || (word === 'this' && PARTS.has(next))) {
    const back = isLastNight && ms >= 12 * HOUR_MS ? DAY_MS : 0;
    return { wall: midnight(clocks) - back, end: at + 2 };
  }
  const day = dayAt(words, at, clocks);
  return day && { wall: day.wall, end: PARTS.has(textAt(words, day.end)) ? day.end + 1 : day.end };
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

function dayAt(words: readonly Word[], start: number, clocks: Clocks): Day | undefined {
  const at = textAt(words, start) === 'the' ? start + 1 : start;
  const word = textAt(words, at);
  const today = midnight(clocks);
  if (word === 'today') return { wall: today, end: at + 1 };
  if (word === 'yesterday') return { wall: today - DAY_MS, end: at + 1 };
  if (word === 'tomorrow') return { wall: today + DAY_MS, end: at + 1 };
  if (word === 'day' && textAt(words, at + 1) === 'before' && textAt(words, at + 2) === 'yesterday')
    return { wall: today - 2 * DAY_MS, end: at + 3 };
  return weekdayAt(words, at, today) ?? dateAt(words, at, today);
}

/** `tuesday`, which may be today; `last tuesday`, which may not. */
function weekdayAt(words: readonly Word[], at: number, today: number): Day | undefined {
  const isNamed = ['last', 'this', 'past', 'next'].includes(textAt(words, at));
  const which = isNamed ? textAt(words, at) : '';
  const weekday = WEEKDAYS.indexOf(textAt(words, isNamed ? at + 1 : at));
  if (weekday < 0) return undefined;
  const end = isNamed ? at + 2 : at + 1;
  const back = (weekdayOf(today) - weekday + 7) % 7;
  if (which === 'next') return { wall: today + (7 - back) * DAY_MS, end };
  return { wall: today - (back === 0 && (which === 'last' || which === 'past') ? 7 : back) * DAY_MS, end };
}

/** `2026-01-05`, `5 january`, `january 5th 2026`, `the 5th`: the last one where no year is said. */
function dateAt(words: readonly Word[], at: number, today: number): Day | undefined {
  const word = textAt(words, at);
  if (/^\d{4}-\d\d-\d\d$/.test(word)) {
    const wall = parseInstant(`${word}T00:00:00Z`);
    return Number.isNaN(wall) ? undefined : { wall, end: at + 1 };
  }
  const [thisYear, thisMonth] = dateOf(today);
  const monthFirst = monthAt(words, at);
  if (monthFirst) {
    const day = dayNumber(textAt(words, monthFirst.end));
    return day === undefined ? undefined : inYear(monthFirst.month, day, monthFirst.end + 1);
  }
  const day = dayNumber(word);
  if (day === undefined) return undefined;
  const month = monthAt(words, textAt(words, at + 1) === 'of' ? at + 2 : at + 1);
  if (month) return inYear(month.month, day, month.end);
  if (!/\D/.test(word)) return undefined;
  const wall = dateWall(thisYear, thisMonth, day);
  const before = dateWall(thisYear, thisMonth - 1, day);
  const found = wall !== undefined && wall <= today ? wall : before;
  return found === undefined ? undefined : { wall: found, end: at + 1 };

  function inYear(inMonth: number, onDay: number, end: number): Day | undefined {
    const year = textAt(words, end);
    const isYear = /^(?:19|20)\d\d$/.test(year);
    const own = dateWall(isYear ? Number(year) : thisYear, inMonth, onDay);
    const last = !isYear && own !== undefined && own > today ? dateWall(thisYear - 1, inMonth, onDay) : own;
    return last === undefined ? undefined : { wall: last, end: isYear ? end + 1 : end };
  }
}

function monthAt(words: readonly Word[], at: number): { readonly month: number; readonly end: number } | undefined {
  const month = monthOf(textAt(words, at));
  return month === undefined ? undefined : { month, end: at + 1 };
}

/** A day, or the part or hour of it that follows. */
function withinDayAt(words: readonly Word[], { wall, end }: Day, clocks: Clocks): Moment {
  const the = ['in', 'during'].includes(textAt(words, end)) && textAt(words, end + 1) === 'the' ? end + 2 : end;
  const part = textAt(words, the);
  if (PARTS.has(part)) return partOf(wall, part, the + 1, clocks);
  const isAfterAt = ['at', 'around'].includes(textAt(words, end));
  const clock = hourAt(words, isAfterAt ? end + 1 : end, isAfterAt);
  if (clock) return pointOf(instantAtClock(wall, clock, clocks), clock.end);
  return spanOfWall(wall, wall + DAY_MS, end, clocks);
}

function partOf(wall: number, part: string, end: number, clocks: Clocks): Moment {
  const [from, to] = PARTS.get(part) ?? [0, 24];
  return spanOfWall(wall + from * HOUR_MS, wall + to * HOUR_MS, end, clocks);
}

/** A time that has begun ends now at the latest. */
function spanOfWall(from: number, to: number, end: number, { now, timeZone }: Clocks): Moment {
  const begin = instantOfWall(from, timeZone);
  return { from: begin, to: Math.max(begin, Math.min(now, instantOfWall(to, timeZone))), end };
}

interface ClockTime {
  readonly ms: number;
  readonly end: number;
  /** Where one is said; else the clocks are those of the question. */
  readonly zone?: string;
}

/** A time of the clock; after `at` an hour alone is one too: `at 3` is 03:00. */
function hourAt(words: readonly Word[], at: number, isAfterAt: boolean): ClockTime | undefined {
  const [plain, seconds] = withoutSeconds(words, at);
  const clock = clockAt(plain, at, isAfterAt);
  if (!clock) return undefined;
  const ms = clock.ms + seconds * 1_000;
  const end = ["o'clock", 'oclock'].includes(textAt(words, clock.end)) ? clock.end + 1 : clock.end;
  if (/\d(?:z|utc)$/.test(textAt(words, clock.end - 1))) return { ms, end, zone: 'UTC' };
  // A city without "time" may be where those are who are asked about.
  const named = zoneAt(words, end, () => true);
  const [zone, other] = named?.zones ?? [];
  const isSure = other === undefined || /^[A-Z]/.test(other);
  return named && zone !== undefined && isSure ? { ms, end: named.end, zone } : { ms, end };
}

function instantAtClock(wall: number, { ms, zone }: ClockTime, { timeZone }: Clocks): number {
  return instantOfWall(wall + ms, zone ?? timeZone);
}

function midnight({ now, timeZone }: Clocks): number {
  const wall = wallTime(now, timeZone);
  return Math.floor(wall / DAY_MS) * DAY_MS;
}

function weekdayOf(wall: number): number {
  return (Math.floor(wall / DAY_MS) + EPOCH_WEEKDAY) % 7;
}

/** Year and month, from 0, of a wall time. */
function dateOf(wall: number): [year: number, month: number] {
  const text = formatInstant(wall);
  return [Number(text.slice(0, 4)), Number(text.slice(5, 7)) - 1];
}

/** Midnight of a day; months count on beyond a year. */
function wallDate(year: number, month: number, day: number): number {
  const whole = year + Math.floor(month / 12);
  const own = ((month % 12) + 12) % 12;
  return parseInstant(`${whole}-${String(own + 1).padStart(2, '0')}-${String(day).padStart(2, '0')}T00:00:00Z`);
}

/** Undefined for a day that the month does not have. */
function dateWall(year: number, month: number, day: number): number | undefined {
  const wall = wallDate(year, month, 1) + (day - 1) * DAY_MS;
  return dateOf(wall)[1] === ((month % 12) + 12) % 12 ? wall : undefined;
}

function pointOf(at: number, end: number): Moment {
  return { from: at, to: at, end };
}
