import { formatInstant, parseInstant } from '../../core/base/time.ts';
import { clockText, instantOfWall, instantsOfWall, wallTime } from '../../core/base/time-zone.ts';
import { type Clock, clockAt } from './clocks.ts';
import { quoted, Refusal, textOf } from './refusal.ts';
import { textAt, type Word } from './tokens.ts';
import { type Clocks, type NamedZone, zoneAt } from './zones.ts';

/** The end of an order, as it stands in a sentence up to the word before `end`. */
export interface NamedTime {
  /** Milliseconds. */
  readonly until: number;
  readonly end: number;
  /** Milliseconds, where a duration was said. */
  readonly span?: number;
}

/** Reads what stands in a sentence by the clocks of a zone; a word that means somebody is no city. */
export interface MomentReader extends Clocks {
  readonly isName: (word: string) => boolean;
}

/** Wall times of which each may be meant, written as if they were UTC, or an instant. */
interface Named {
  readonly walls: readonly number[];
  readonly end: number;
  /** True for a time of the clock; days begin when they begin. */
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
export function untilAt(words: readonly Word[], start: number, reader: MomentReader): NamedTime {
  const found = momentAt(words, start, reader);
  if (!found) {
    throw new Refusal(
      `It is not clear until when ${quoted(textOf(words.slice(start, start + 3)))} is: no such time is known.`,
      [WRITTEN],
    );
  }
  if (found.until > reader.now) return found;
  throw new Refusal(
    `${quoted(textOf(words.slice(start, found.end)))} is no time to come: write it as 2030-01-31T12:00:00Z.`,
    ['Until when?'],
  );
}

/** As {@link untilAt}; undefined where no moment stands there. */
export function momentAt(words: readonly Word[], start: number, reader: MomentReader): NamedTime | undefined {
  const { now, timeZone, isName } = reader;
  const plain = namedAt(words, start, reader, timeZone);
  if (!plain) return undefined;
  const zone = plain.zone ?? zoneAt(words, plain.end, isName);
  const end = Math.max(plain.end, zone?.end ?? 0);
  const phrase = words.slice(start, end);
  const zones = zone?.zones ?? [timeZone];
  if (plain.instant !== undefined) {
    if (zone && (zones.length !== 1 || zones[0] !== 'UTC')) throw unclearMoment(phrase, [plain.instant]);
    return { until: plain.instant, end };
  }
  if (zones.length === 0) throw unknownZone(phrase, [...instantsIn(plain, timeZone), ...instantsIn(plain, 'UTC')]);
  // Which day "friday" is depends on whose clocks are meant.
  const readings = zones.flatMap((one) => instantsIn(namedAt(words, start, reader, one) ?? plain, one));
  const all = [...new Set(readings)];
  const ahead = all.length > 1 ? all.filter((one) => one > now) : all;
  if (ahead.length > 1) throw unclearMoment(phrase, ahead);
  const until = ahead[0] ?? all.at(-1);
  if (until === undefined) throw skipped(phrase, plain, zones[0] ?? timeZone);
  return { until, end };
}

/** The instants that wall times are by the clocks of a zone. The start of a day that is skipped is where the clocks jump. */
function instantsIn({ walls, isClock }: Named, zone: string): number[] {
  return walls.flatMap((wall) => (isClock ? instantsOfWall(wall, zone) : [instantOfWall(wall, zone)]));
}

function unclearMoment(words: readonly Word[], moments: readonly number[]): Refusal {
  const count = moments.length === 2 ? 'two' : 'several';
  return new Refusal(
    moments.length > 1
      ? `${quoted(textOf(words))} can be one of ${count} moments.`
      : `${quoted(textOf(words))} names an instant and a zone besides.`,
    [`Which of them is meant: ${moments.map((one) => formatInstant(one)).join(' or ')}?`],
  );
}

function unknownZone(words: readonly Word[], instants: readonly number[]): Refusal {
  return new Refusal(`It is not known by whose clocks ${quoted(textOf(words))} is.`, [
    `Which is meant: ${[...new Set(instants)].map((one) => formatInstant(one)).join(' or ')}? Or name a city or UTC: "until 18:00 Zurich time".`,
  ]);
}

function skipped(words: readonly Word[], { walls }: Named, zone: string): Refusal {
  const [wall = 0] = walls;
  const jump = instantOfWall(wall, zone);
  return new Refusal(`The clocks of ${zone} skip ${quoted(textOf(words))}: they go forward there.`, [
    `Is ${clockText(jump, zone)} meant (${formatInstant(jump)})?`,
  ]);
}

/** Reads a moment by the clocks of a zone. */
function namedAt(words: readonly Word[], start: number, reader: MomentReader, zone: string): Named | undefined {
  const wallNow = wallTime(reader.now, zone);
  const ending = endOf(words, start, wallNow);
  if (ending) return { ...ending, isClock: false };
  const day = dayAt(words, start, wallNow);
  if (day) return onDay(words, day, wallNow);
  const clock = clockAt(words, start, false);
  if (!clock) return undefined;
  const own = gluedUtc(words, clock) ?? zoneAt(words, clock.end, reader.isName);
  const from = own?.end ?? clock.end;
  const next = isOn(words, from) || textAt(words, from) === ',' ? from + 1 : from;
  const later = dayAt(words, next, wallNow);
  if (later) return { ...atClock(later, clock, wallNow), end: later.end, ...(own && { zone: own }) };
  const today = dayOf(wallNow) + clock.ms;
  const isToday = textAt(words, from) === 'today';
  // Where clocks go back a time that is over comes again.
  const isAhead = (instantsOfWall(today, zone).at(-1) ?? instantOfWall(today, zone)) > reader.now;
  const wall = isToday || isAhead ? today : today + DAY_MS;
  return { walls: [wall], end: isToday ? from + 1 : from, isClock: true, ...(own && { zone: own }) };
}

/** `18:00z`. */
function gluedUtc(words: readonly Word[], { end }: Clock): NamedZone | undefined {
  return GLUED_UTC.test(textAt(words, end - 1)) ? { zones: ['UTC'], end } : undefined;
}

/** A day, at its start unless a time of the clock follows. */
function onDay(words: readonly Word[], day: Day, wallNow: number): Named {
  if (day.instant !== undefined) return { walls: [], end: day.end, isClock: true, instant: day.instant };
  const isAt = textAt(words, day.end) === 'at';
  const isJoint = isAt || textAt(words, day.end) === 'on' || textAt(words, day.end) === ',';
  const clock =
    clockAt(words, day.end, false) ??
    (isJoint ? clockAt(words, day.end + 1, isAt) : undefined) ??
    clockAt(words, day.end, 'suffixed');
  if (!clock) return { walls: day.starts, end: day.end, isClock: day.starts.some((start) => start % DAY_MS !== 0) };
  const zone = gluedUtc(words, clock);
  return { ...atClock(day, clock, wallNow), end: clock.end, ...(zone && { zone }) };
}

/** Returns all that a day and a time of the clock may be: friday at midnight is its start or its end. */
function atClock({ starts, isToday }: Day, { ms, isMidnight }: Clock, wallNow: number): Omit<Named, 'end'> {
  const today = isToday && dayOf(wallNow) + ms > wallNow ? [dayOf(wallNow)] : [];
  const walls = [...today, ...starts].flatMap((one) => (isMidnight ? [one, one + DAY_MS] : [one + ms]));
  return { walls, isClock: !isMidnight };
}

/** `on` or `at`. */
function isOn(words: readonly Word[], at: number): boolean {
  return ['on', 'at'].includes(textAt(words, at));
}

/** "The end of the day", "end of friday", "the end of the month". */
function endOf(words: readonly Word[], start: number, wallNow: number): Pick<Named, 'walls' | 'end'> | undefined {
  const at = textAt(words, start) === 'the' ? start + 1 : start;
  if (textAt(words, at) !== 'end' || textAt(words, at + 1) !== 'of') return undefined;
  const last = ['the', 'this'].includes(textAt(words, at + 2)) ? at + 3 : at + 2;
  const unit = textAt(words, last);
  const end = last + 1;
  const [year, month] = yearAndMonth(wallNow);
  if (unit === 'day' || unit === 'today') return { walls: [dayOf(wallNow) + DAY_MS], end };
  if (unit === 'month') return { walls: [Date.UTC(year, month + 1)], end };
  if (unit === 'year') return { walls: [Date.UTC(year + 1, 0)], end };
  if (unit === 'week') {
    const monday = dayOf(wallNow) + ((8 - weekdayOf(wallNow)) % 7 || 7) * DAY_MS;
    return { walls: [monday - 2 * DAY_MS, monday].filter((one) => one > wallNow), end };
  }
  const day = dayAt(words, last, wallNow);
  const [first, second] = day?.starts ?? [];
  return day && first !== undefined && second === undefined ? { walls: [first + DAY_MS], end: day.end } : undefined;
}

function dayAt(words: readonly Word[], start: number, wallNow: number): Day | undefined {
  const word = textAt(words, start);
  if (/^\d{4}-\d\d-\d\dt/.test(word)) return instantAt(word, start);
  if (/^\d{4}-\d\d-\d\d$/.test(word)) {
    const day = parseInstant(`${word}T00:00:00Z`);
    return Number.isNaN(day) ? undefined : { starts: [day], end: start + 1 };
  }
  if (word === 'tomorrow') return { starts: [dayOf(wallNow) + DAY_MS], end: start + 1 };
  return weekdayAt(words, start, wallNow) ?? dateAt(words, start, wallNow);
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
function weekdayAt(words: readonly Word[], start: number, wallNow: number): Day | undefined {
  const lead = textAt(words, start);
  const isLed = ['this', 'next', 'coming'].includes(lead);
  const at = isLed ? start + 1 : start;
  const name = textAt(words, at);
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
function dateAt(words: readonly Word[], start: number, wallNow: number): Day | undefined {
  const [one, two] = [start, start + 1].map((at) => textAt(words, at));
  const isFirst = dayNumber(one) !== undefined;
  const day = dayNumber(isFirst ? one : two);
  const month = monthOf(isFirst ? two : one);
  if (day === undefined || month === undefined) return undefined;
  const year = /^20\d\d$/.test(textAt(words, start + 2)) ? Number(textAt(words, start + 2)) : undefined;
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
