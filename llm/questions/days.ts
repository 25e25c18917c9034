import { formatInstant, parseInstant } from '../../core/base/time.ts';
import { wallTime } from '../../core/base/time-zone.ts';
import { dayNumber, monthOf, WEEKDAYS } from '../grammar/moments.ts';
import { textAt, type Word } from '../grammar/tokens.ts';
import type { Clocks } from '../grammar/zones.ts';

/** A day by the clocks of the zone, from its midnight on, written as if it were UTC. */
interface Day {
  readonly wall: number;
  readonly end: number;
}

/** A day, or a part of it, as it stands up to the word before `end`. */
export interface DayPhrase extends Day {
  readonly part?: PartOfDay | undefined;
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
/** 1970-01-01 was a Thursday. */
const EPOCH_WEEKDAY = 4;

/** Hours of the day, from and to. */
export const PARTS = {
  morning: [6, 12],
  afternoon: [12, 18],
  evening: [18, 24],
  night: [22, 30],
} as const satisfies Record<string, readonly [number, number]>;
export type PartOfDay = keyof typeof PARTS;

/** `today`, `on Tuesday`, `yesterday evening`, `this morning`, `tonight`, `last night`. */
export function dayPhraseAt(words: readonly Word[], start: number, clocks: Clocks): DayPhrase | undefined {
  const at = textAt(words, start) === 'on' ? start + 1 : start;
  const [word, next] = [textAt(words, at), textAt(words, at + 1)];
  const today = midnight(clocks);
  if (word === 'tonight') return { wall: today, part: 'evening', end: at + 1 };
  if (word === 'last' && next === 'night') return { wall: today - DAY_MS, part: 'night', end: at + 2 };
  if (word === 'this' && isPart(next)) return { wall: today, part: next, end: at + 2 };
  const day = dayAt(words, at, clocks);
  if (!day) return undefined;
  const isThe = ['in', 'during'].includes(textAt(words, day.end)) && textAt(words, day.end + 1) === 'the';
  const place = isThe ? day.end + 2 : day.end;
  const part = textAt(words, place);
  return isPart(part) ? { wall: day.wall, part, end: place + 1 } : day;
}

export function isPart(word: string): word is PartOfDay {
  return Object.hasOwn(PARTS, word);
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

export function midnight({ now, timeZone }: Clocks): number {
  const wall = wallTime(now, timeZone);
  return Math.floor(wall / DAY_MS) * DAY_MS;
}

export function weekdayOf(wall: number): number {
  return (Math.floor(wall / DAY_MS) + EPOCH_WEEKDAY) % 7;
}

/** Year and month, from 0, of a wall time. */
export function dateOf(wall: number): [year: number, month: number] {
  const text = formatInstant(wall);
  return [Number(text.slice(0, 4)), Number(text.slice(5, 7)) - 1];
}

/** Midnight of a day; months count on beyond a year. */
export function wallDate(year: number, month: number, day: number): number {
  const whole = year + Math.floor(month / 12);
  const own = ((month % 12) + 12) % 12;
  return parseInstant(`${whole}-${String(own + 1).padStart(2, '0')}-${String(day).padStart(2, '0')}T00:00:00Z`);
}

/** Undefined for a day that the month does not have. */
function dateWall(year: number, month: number, day: number): number | undefined {
  const wall = wallDate(year, month, 1) + (day - 1) * DAY_MS;
  return dateOf(wall)[1] === ((month % 12) + 12) % 12 ? wall : undefined;
}
