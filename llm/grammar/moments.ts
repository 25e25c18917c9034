import { formatInstant, parseInstant } from '../../core/base/time.ts';
import { clockText, instantOfWall, instantsOfWall, wallTime } from '../../core/base/time-zone.ts';
import { type Clock, clockAt } from './clocks.ts';
import type { Token } from './lexicon.ts';
import { quoted, Refusal, said } from './refusal.ts';
import { textAt } from './tokens.ts';
import { type Clocks, type NamedZone, zoneAt } from './zones.ts';

/** The moment that something ends at: "friday 18:00", "18:00 Zurich time on friday", "9 january", "the end of the month". */

/** When a change ends, as it stands in a sentence up to the token before `end`. */
export interface NamedTime {
  /** Milliseconds. */
  readonly until: number;
  readonly end: number;
  /** By whose clocks it was said, where the sentence names them. */
  readonly zone?: string;
}

/** Reads what stands in a sentence by the clocks of a zone; a word that means somebody is no city. */
export interface MomentReader extends Clocks {
  readonly isName: (word: string) => boolean;
}

/** What words name: wall times of which each may be meant, written as if they were UTC, or an instant. */
interface Named {
  readonly walls: readonly number[];
  readonly end: number;
  /** Whether a time of the clock is named; else days, which begin when they begin. */
  readonly isClock: boolean;
  readonly instant?: number;
  /** Said between a time and its day. */
  readonly zone?: NamedZone;
}

/** A day, at its start. */
interface Day {
  readonly starts: readonly number[];
  readonly end: number;
  /** A day of the week that is today: at its start for a week to come, and with a time of the clock perhaps today. */
  readonly isToday?: boolean;
  readonly instant?: number;
}

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
const GLUED_UTC = /\d(?:z|utc)$/;

/**
 * Reads what stands behind "until".
 *
 * @throws Refusal for a time that cannot be read, has passed, or may be one of several.
 */
export function untilAt(tokens: readonly Token[], start: number, reader: MomentReader): NamedTime {
  const found = momentAt(tokens, start, reader);
  if (!found) {
    const vague = tokens[start];
    throw new Refusal(
      `It is not clear until when ${quoted(said(tokens.slice(start, start + 3)))} is: no such time is known.`,
      [WRITTEN],
      vague?.text === 'tonight' ? { replace: [vague], by: ['20:00', '22:00', 'tomorrow'] } : {},
    );
  }
  if (found.until > reader.now) return found;
  throw new Refusal(
    `${quoted(said(tokens.slice(start, found.end)))} is no time to come: write it as 2030-01-31T12:00:00Z.`,
    ['Until when?'],
  );
}

/** As {@link untilAt}; undefined where no moment stands there. */
export function momentAt(tokens: readonly Token[], start: number, reader: MomentReader): NamedTime | undefined {
  const { now, timeZone, isName } = reader;
  const plain = namedAt(tokens, start, reader, timeZone);
  if (!plain) return undefined;
  const zone = plain.zone ?? zoneAt(tokens, plain.end, isName);
  const end = Math.max(plain.end, zone?.end ?? 0);
  const words = tokens.slice(start, end);
  const zones = zone?.zones ?? [timeZone];
  if (plain.instant !== undefined) {
    if (zone && (zones.length !== 1 || zones[0] !== 'UTC')) throw unclearMoment(words, [plain.instant]);
    return { until: plain.instant, end };
  }
  if (zones.length === 0) throw unknownZone(words, [...instantsIn(plain, timeZone), ...instantsIn(plain, 'UTC')]);
  // Which day "friday" is depends on whose clocks are meant.
  const readings = zones.flatMap((one) => instantsIn(namedAt(tokens, start, reader, one) ?? plain, one));
  const all = [...new Set(readings)];
  const ahead = all.length > 1 ? all.filter((one) => one > now) : all;
  if (ahead.length > 1) throw unclearMoment(words, ahead);
  const until = ahead[0] ?? all.at(-1);
  if (until === undefined) throw skipped(words, plain, zones[0] ?? timeZone);
  return { until, end, ...(zone && zones[0] !== undefined && { zone: zones[0] }) };
}

/** The instants that wall times are by the clocks of a zone. The start of a day that is skipped is where the clocks jump. */
function instantsIn({ walls, isClock }: Named, zone: string): number[] {
  return walls.flatMap((wall) => (isClock ? instantsOfWall(wall, zone) : [instantOfWall(wall, zone)]));
}

function unclearMoment(words: readonly Token[], moments: readonly number[]): Refusal {
  const count = moments.length === 2 ? 'two' : 'several';
  return new Refusal(
    moments.length > 1
      ? `${quoted(said(words))} can be one of ${count} moments.`
      : `${quoted(said(words))} names an instant and a zone besides.`,
    ['Which of them is meant?'],
    { replace: words, by: moments.map((one) => formatInstant(one)) },
  );
}

function unknownZone(words: readonly Token[], instants: readonly number[]): Refusal {
  return new Refusal(
    `It is not known by whose clocks ${quoted(said(words))} is.`,
    ['Which of these is meant? Or name a city or UTC: "until 18:00 Zurich time".'],
    { replace: words, by: [...new Set(instants)].map((one) => formatInstant(one)) },
  );
}

function skipped(words: readonly Token[], { walls }: Named, zone: string): Refusal {
  const [wall = 0] = walls;
  const jump = instantOfWall(wall, zone);
  return new Refusal(
    `The clocks of ${zone} skip ${quoted(said(words))}: they go forward there.`,
    [`Is ${clockText(jump, zone)} meant?`],
    { replace: words, by: [formatInstant(jump)] },
  );
}

/** What words name by the clocks of a zone. */
function namedAt(tokens: readonly Token[], start: number, reader: MomentReader, zone: string): Named | undefined {
  const wallNow = wallTime(reader.now, zone);
  const ending = endOf(tokens, start, wallNow);
  if (ending) return { ...ending, isClock: false };
  const day = dayAt(tokens, start, wallNow);
  if (day) return onDay(tokens, day, wallNow);
  const clock = clockAt(tokens, start, false);
  if (!clock) return undefined;
  const own = gluedUtc(tokens, clock) ?? zoneAt(tokens, clock.end, reader.isName);
  const from = own?.end ?? clock.end;
  const next = tokens[from]?.sym === 'ON' || tokens[from]?.sym === 'COMMA' ? from + 1 : from;
  const later = dayAt(tokens, next, wallNow);
  if (later) return { ...atClock(later, clock, wallNow), end: later.end, ...(own && { zone: own }) };
  const today = dayOf(wallNow) + clock.ms;
  const isToday = textAt(tokens, from) === 'today';
  // Where clocks go back a time that is over comes again.
  const isAhead = (instantsOfWall(today, zone).at(-1) ?? instantOfWall(today, zone)) > reader.now;
  const wall = isToday || isAhead ? today : today + DAY_MS;
  return { walls: [wall], end: isToday ? from + 1 : from, isClock: true, ...(own && { zone: own }) };
}

/** `18:00z`. */
function gluedUtc(tokens: readonly Token[], { end }: Clock): NamedZone | undefined {
  return GLUED_UTC.test(textAt(tokens, end - 1)) ? { zones: ['UTC'], end } : undefined;
}

/** A day, at its start unless a time of the clock follows. */
function onDay(tokens: readonly Token[], day: Day, wallNow: number): Named {
  if (day.instant !== undefined) return { walls: [], end: day.end, isClock: true, instant: day.instant };
  const joint = tokens[day.end];
  const isAt = joint?.sym === 'ON' && joint.text === 'at';
  const clock =
    clockAt(tokens, day.end, false) ??
    (isAt || joint?.sym === 'COMMA' || joint?.sym === 'ON' ? clockAt(tokens, day.end + 1, isAt) : undefined) ??
    clockAt(tokens, day.end, 'suffixed');
  if (!clock) return { walls: day.starts, end: day.end, isClock: day.starts.some((start) => start % DAY_MS !== 0) };
  const zone = gluedUtc(tokens, clock);
  return { ...atClock(day, clock, wallNow), end: clock.end, ...(zone && { zone }) };
}

/** All that a day and a time of the clock may be: friday at midnight is its start or its end. */
function atClock({ starts, isToday }: Day, { ms, isMidnight }: Clock, wallNow: number): Omit<Named, 'end'> {
  const today = isToday && dayOf(wallNow) + ms > wallNow ? [dayOf(wallNow)] : [];
  const walls = [...today, ...starts].flatMap((one) => (isMidnight ? [one, one + DAY_MS] : [one + ms]));
  return { walls, isClock: !isMidnight };
}

/** "The end of the day", "end of friday", "the end of the month". */
function endOf(tokens: readonly Token[], start: number, wallNow: number): Pick<Named, 'walls' | 'end'> | undefined {
  const at = textAt(tokens, start) === 'the' ? start + 1 : start;
  if (textAt(tokens, at) !== 'end' || tokens[at + 1]?.sym !== 'OF') return undefined;
  const last = ['the', 'this'].includes(textAt(tokens, at + 2)) ? at + 3 : at + 2;
  const unit = textAt(tokens, last);
  const end = last + 1;
  const [year, month] = yearAndMonth(wallNow);
  if (unit === 'day' || unit === 'today') return { walls: [dayOf(wallNow) + DAY_MS], end };
  if (unit === 'month') return { walls: [Date.UTC(year, month + 1)], end };
  if (unit === 'year') return { walls: [Date.UTC(year + 1, 0)], end };
  if (unit === 'week') {
    const monday = dayOf(wallNow) + ((8 - weekdayOf(wallNow)) % 7 || 7) * DAY_MS;
    return { walls: [monday - 2 * DAY_MS, monday].filter((one) => one > wallNow), end };
  }
  const day = dayAt(tokens, last, wallNow);
  const [first, second] = day?.starts ?? [];
  return day && first !== undefined && second === undefined ? { walls: [first + DAY_MS], end: day.end } : undefined;
}

function dayAt(tokens: readonly Token[], start: number, wallNow: number): Day | undefined {
  const word = textAt(tokens, start);
  if (/^\d{4}-\d\d-\d\dt/.test(word)) return instantAt(word, start);
  if (/^\d{4}-\d\d-\d\d$/.test(word)) {
    const day = parseInstant(`${word}T00:00:00Z`);
    return Number.isNaN(day) ? undefined : { starts: [day], end: start + 1 };
  }
  if (word === 'tomorrow') return { starts: [dayOf(wallNow) + DAY_MS], end: start + 1 };
  return weekdayAt(tokens, start, wallNow) ?? dateAt(tokens, start, wallNow);
}

/** `2030-01-31T12:00:00Z`, and without a zone by the clocks; what cannot be read is long past. */
function instantAt(word: string, start: number): Day {
  const text = word.toUpperCase();
  const isZoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(text);
  const at = parseInstant(isZoned ? text : `${text}Z`);
  if (Number.isNaN(at)) return { starts: [], end: start + 1, instant: 0 };
  return isZoned ? { starts: [], end: start + 1, instant: at } : { starts: [at], end: start + 1 };
}

/** `friday`, `fri`, `this friday`, `next friday`. */
function weekdayAt(tokens: readonly Token[], start: number, wallNow: number): Day | undefined {
  const lead = textAt(tokens, start);
  const isLed = ['this', 'next', 'coming'].includes(lead);
  const at = isLed ? start + 1 : start;
  const name = textAt(tokens, at);
  const weekday = WEEKDAYS.findIndex((day) => day === name || (ABBREVIATION.test(name) && day.startsWith(name)));
  if (weekday < 0) return undefined;
  const today = weekdayOf(wallNow);
  const next = dayOf(wallNow) + ((weekday - today + 7) % 7 || 7) * DAY_MS;
  // Weeks begin on Monday; on a Monday "next friday" may be this week's.
  const isThisWeek = (weekday || 7) > (today || 7);
  const starts = lead === 'next' && isThisWeek ? [next, next + WEEK_MS] : [next];
  return { starts, end: at + 1, ...(weekday === today && lead !== 'next' && { isToday: true }) };
}

const ABBREVIATION = /^(?:mon|tues?|wed|thu|thurs?|fri|sat|sun)$/;

/** `9 january`, `jan 9th`, `9 january 2027`: the next one to come. */
function dateAt(tokens: readonly Token[], start: number, wallNow: number): Day | undefined {
  const [one, two] = [start, start + 1].map((at) => textAt(tokens, at));
  const isFirst = dayNumber(one) !== undefined;
  const day = dayNumber(isFirst ? one : two);
  const month = monthOf(isFirst ? two : one);
  if (day === undefined || month === undefined) return undefined;
  const year = /^20\d\d$/.test(textAt(tokens, start + 2)) ? Number(textAt(tokens, start + 2)) : undefined;
  const [thisYear] = yearAndMonth(wallNow);
  const dates = (year === undefined ? [thisYear, thisYear + 1] : [year]).map((one_) => Date.UTC(one_, month, day));
  const found = dates.find((date) => new Date(date).getUTCDate() === day && date > dayOf(wallNow)) ?? dates[0] ?? 0;
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

function yearAndMonth(wall: number): [year: number, month: number] {
  const date = new Date(wall);
  return [date.getUTCFullYear(), date.getUTCMonth()];
}

function weekdayOf(wall: number): number {
  return (Math.floor(wall / DAY_MS) + EPOCH_WEEKDAY) % 7;
}

export function dayOf(wall: number): number {
  return Math.floor(wall / DAY_MS) * DAY_MS;
}
