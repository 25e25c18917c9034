import { formatInstant, parseInstant } from '../../core/base/time.ts';
import { type Clock, clockAt, isOffset, withoutZone } from './clocks.ts';
import type { Token } from './lexicon.ts';
import { quoted, Refusal, said } from './refusal.ts';
import { textAt } from './tokens.ts';

/** When a change ends, as it stands in a sentence up to the token before `end`. Milliseconds. */
export interface NamedTime {
  readonly until: number;
  readonly end: number;
}

/** The moment that something ends at: "friday 18:00", "18:00 on friday", "9 january", "the end of the month". All are UTC. */

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
export const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october'],
  ...['november', 'december'],
];
/** 1970-01-01 was a Thursday. */
const EPOCH_WEEKDAY = 4;
const WRITTEN = 'Until when? Write "until 18:00", "until tomorrow", "until 2030-01-31T12:00:00Z" or "for 2 hours".';

/**
 * Reads what stands behind "until".
 *
 * @throws Refusal for a time that cannot be read, has passed, or may be one of two.
 */
export function untilAt(tokens: readonly Token[], start: number, now: number): NamedTime {
  const found = momentAt(tokens, start, now);
  if (!found) {
    throw new Refusal(
      `It is not clear until when ${quoted(said(tokens.slice(start, start + 3)))} is: no such time is known.`,
      [WRITTEN],
    );
  }
  if (found.until > now) return found;
  throw new Refusal(
    `${quoted(said(tokens.slice(start, found.end)))} is no time to come: write it as 2030-01-31T12:00:00Z.`,
    ['Until when?'],
  );
}

/** As {@link untilAt}; undefined where no moment stands there. */
export function momentAt(tokens: readonly Token[], start: number, now: number): NamedTime | undefined {
  const ending = endOf(tokens, start, now);
  if (ending) return ending;
  const day = dayAt(tokens, start, now);
  if (day) return onDay(tokens, start, day, now);
  const clock = clockAt(tokens, start, false);
  if (!clock) return undefined;
  const next = tokens[clock.end]?.sym === 'ON' || tokens[clock.end]?.sym === 'COMMA' ? clock.end + 1 : clock.end;
  const later = dayAt(tokens, next, now);
  if (later) return chosen(tokens, start, later, clock, now, later.end);
  const today = dayOf(now) + clock.ms;
  const isToday = textAt(tokens, clock.end) === 'today';
  const until = isToday || today > now ? today : today + DAY_MS;
  return inZone(tokens, start, until, clock, isToday ? clock.end + 1 : clock.end);
}

interface Day {
  /** Its start, and others that it may be as well. */
  readonly starts: readonly number[];
  readonly end: number;
  /** A day of the week that is today: at its start for a week to come, and with a time of the clock perhaps today. */
  readonly isToday?: boolean;
}

/** A day, at its start unless a time of the clock follows. */
function onDay(tokens: readonly Token[], start: number, day: Day, now: number): NamedTime | undefined {
  const joint = tokens[day.end];
  const isAt = joint?.sym === 'ON' && joint.text === 'at';
  const clock =
    clockAt(tokens, day.end, false) ??
    (isAt || joint?.sym === 'COMMA' || joint?.sym === 'ON' ? clockAt(tokens, day.end + 1, isAt) : undefined) ??
    clockAt(tokens, day.end, 'suffixed');
  return chosen(tokens, start, day, clock, now, clock?.end ?? day.end);
}

/** @throws Refusal where two moments may be meant. */
function chosen(
  tokens: readonly Token[],
  start: number,
  { starts, isToday }: Day,
  clock: Clock | undefined,
  now: number,
  end: number,
): NamedTime | undefined {
  const [first = 0] = starts;
  const ms = clock?.ms ?? 0;
  const today = isToday && clock && dayOf(now) + ms > now ? [dayOf(now)] : [];
  // Friday at midnight is its start or its end.
  const ends = clock?.isMidnight ? [DAY_MS] : [];
  const all = [...today, ...starts].flatMap((one) => [one + ms, ...ends.map((more) => one + more)]);
  if (all.length > 1)
    throw unclearMoment(
      tokens.slice(start, end),
      all.filter((one) => one > now),
    );
  return inZone(tokens, start, first + ms, clock, end);
}

function unclearMoment(words: readonly Token[], moments: readonly number[]): Refusal {
  return new Refusal(`${quoted(said(words))} can be one of two moments.`, ['Which of them is meant?'], {
    replace: words,
    by: moments.map((one) => formatInstant(one)),
  });
}

/** @throws Refusal for another zone than UTC: the instant is offered. */
function inZone(
  tokens: readonly Token[],
  start: number,
  until: number,
  clock: Clock | undefined,
  end: number,
): NamedTime {
  const zone = clock && isOffset(tokens, Math.max(end, clock.end));
  if (!zone) return { until, end: clock ? withoutZone(tokens, end) : end };
  const words = tokens.slice(start, zone.end);
  throw new Refusal(
    `Times are UTC here, and ${quoted(said(words))} names another zone.`,
    ['Which instant is meant? Write it as "until 2030-01-31T12:00:00Z".'],
    { replace: words, by: zone.offsets.map((offset) => formatInstant(until - offset)) },
  );
}

/** "The end of the day", "end of friday", "the end of the month". */
function endOf(tokens: readonly Token[], start: number, now: number): NamedTime | undefined {
  const at = textAt(tokens, start) === 'the' ? start + 1 : start;
  if (textAt(tokens, at) !== 'end' || tokens[at + 1]?.sym !== 'OF') return undefined;
  const last = ['the', 'this'].includes(textAt(tokens, at + 2)) ? at + 3 : at + 2;
  const unit = textAt(tokens, last);
  const end = last + 1;
  if (unit === 'day' || unit === 'today') return { until: dayOf(now) + DAY_MS, end };
  const date = new Date(now);
  if (unit === 'month') return { until: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1), end };
  if (unit === 'year') return { until: Date.UTC(date.getUTCFullYear() + 1, 0), end };
  if (unit === 'week') {
    const monday = dayOf(now) + ((8 - weekdayOf(now)) % 7 || 7) * DAY_MS;
    const ends = [monday - 2 * DAY_MS, monday].filter((one) => one > now);
    if (ends.length > 1) throw unclearMoment(tokens.slice(start, end), ends);
    return { until: monday, end };
  }
  const day = dayAt(tokens, last, now);
  if (!day || day.starts.length > 1) return undefined;
  const [first = 0] = day.starts;
  return { until: first + DAY_MS, end: day.end };
}

function dayAt(tokens: readonly Token[], start: number, now: number): Day | undefined {
  const word = textAt(tokens, start);
  if (/^\d{4}-\d\d-\d\dt/.test(word)) {
    const until = parseInstant(word.toUpperCase());
    return { starts: [Number.isNaN(until) ? 0 : until], end: start + 1 };
  }
  if (/^\d{4}-\d\d-\d\d$/.test(word)) {
    const day = parseInstant(`${word}T00:00:00Z`);
    return Number.isNaN(day) ? undefined : { starts: [day], end: start + 1 };
  }
  if (word === 'tomorrow') return { starts: [dayOf(now) + DAY_MS], end: start + 1 };
  return weekdayAt(tokens, start, now) ?? dateAt(tokens, start, now);
}

/** `friday`, `fri`, `this friday`, `next friday`. */
function weekdayAt(tokens: readonly Token[], start: number, now: number): Day | undefined {
  const lead = textAt(tokens, start);
  const isLed = ['this', 'next', 'coming'].includes(lead);
  const at = isLed ? start + 1 : start;
  const name = textAt(tokens, at);
  const weekday = WEEKDAYS.findIndex((day) => day === name || (ABBREVIATION.test(name) && day.startsWith(name)));
  if (weekday < 0) return undefined;
  const today = weekdayOf(now);
  const next = dayOf(now) + ((weekday - today + 7) % 7 || 7) * DAY_MS;
  // Weeks begin on Monday; on a Monday "next friday" may be this week's.
  const isThisWeek = (weekday || 7) > (today || 7);
  const starts = lead === 'next' && isThisWeek ? [next, next + WEEK_MS] : [next];
  return { starts, end: at + 1, ...(weekday === today && lead !== 'next' && { isToday: true }) };
}

const ABBREVIATION = /^(?:mon|tues?|wed|thu|thurs?|fri|sat|sun)$/;

/** `9 january`, `jan 9th`, `9 january 2027`: the next one to come. */
function dateAt(tokens: readonly Token[], start: number, now: number): Day | undefined {
  const [one, two] = [start, start + 1].map((at) => textAt(tokens, at));
  const isFirst = dayNumber(one) !== undefined;
  const day = dayNumber(isFirst ? one : two);
  const month = monthOf(isFirst ? two : one);
  if (day === undefined || month === undefined) return undefined;
  const year = /^20\d\d$/.test(textAt(tokens, start + 2)) ? Number(textAt(tokens, start + 2)) : undefined;
  const thisYear = new Date(now).getUTCFullYear();
  const dates = (year === undefined ? [thisYear, thisYear + 1] : [year]).map((one_) => Date.UTC(one_, month, day));
  const found = dates.find((date) => new Date(date).getUTCDate() === day && date > dayOf(now)) ?? dates[0] ?? 0;
  if (new Date(found).getUTCDate() !== day) return undefined;
  return { starts: [found], end: year === undefined ? start + 2 : start + 3 };
}

export function dayNumber(word = ''): number | undefined {
  const [, digits] = /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(word) ?? [];
  const day = Number(digits);
  return digits !== undefined && day >= 1 && day <= 31 ? day : undefined;
}

export function monthOf(word = ''): number | undefined {
  const found = MONTHS.findIndex(
    (month) =>
      month === word || (word.length === 3 && month.startsWith(word)) || (word === 'sept' && month === 'september'),
  );
  return found < 0 ? undefined : found;
}

function weekdayOf(now: number): number {
  return (Math.floor(now / DAY_MS) + EPOCH_WEEKDAY) % 7;
}

export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS) * DAY_MS;
}
