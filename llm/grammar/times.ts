import { parseDuration } from '../../core/base/duration.ts';
import { parseInstant } from '../../core/base/time.ts';
import type { Token } from './lexicon.ts';
import { quoted, Refusal } from './refusal.ts';

/** When a change ends, as it stands in a sentence up to the token before `end`. Milliseconds. */
export interface NamedTime {
  readonly until: number;
  readonly end: number;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const UNIT_MS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    second: 1_000,
    sec: 1_000,
    s: 1_000,
    minute: MINUTE_MS,
    min: MINUTE_MS,
    m: MINUTE_MS,
    hour: HOUR_MS,
    hr: HOUR_MS,
    h: HOUR_MS,
    day: DAY_MS,
    d: DAY_MS,
    week: 7 * DAY_MS,
    fortnight: 14 * DAY_MS,
  }),
);
const COUNTS = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
];
const TENS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    fifteen: 15,
    twenty: 20,
    thirty: 30,
    forty: 40,
    fifty: 50,
    sixty: 60,
    ninety: 90,
  }),
);
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
/** 1970-01-01 was a Thursday. */
const EPOCH_WEEKDAY = 4;

/**
 * Reads `for 2 hours`, `for the next 30 minutes`, `until 18:00`, `until tomorrow`, `until 2030-01-31T12:00:00Z` from a place on.
 * Clock times and days are UTC.
 *
 * @returns undefined when no time stands there.
 * @throws Refusal for a time that cannot be read or has passed.
 */
export function timeAt(tokens: readonly Token[], at: number, now: number): NamedTime | undefined {
  const word = textAt(tokens, at);
  if (tokens[at]?.sym === 'UNTIL') return untilAt(tokens, at + 1, now);
  if (tokens[at]?.sym === 'FOR') return durationAt(tokens, at + 1, now) ?? todayAt(tokens, at + 1, now);
  if (['expiring', 'expires', 'ending', 'ends'].includes(word)) {
    const next = textAt(tokens, at + 1);
    if (next === 'in' || next === 'after') return durationAt(tokens, at + 2, now);
    if (tokens[at + 1]?.sym === 'ON') return untilAt(tokens, at + 2, now);
  }
  return undefined;
}

function durationAt(tokens: readonly Token[], start: number, now: number): NamedTime | undefined {
  let at = start;
  while (['the', 'next', 'another', 'exactly', 'only'].includes(textAt(tokens, at))) at++;
  let total = 0;
  let end = at;
  for (;;) {
    const part = spanAt(tokens, end, end === at && at > start);
    if (!part) break;
    total += part.ms;
    end = part.end;
    const next = tokens[end]?.sym === 'AND' ? end + 1 : end;
    if (textAt(tokens, next) === 'a' && textAt(tokens, next + 1) === 'half') {
      total += part.unit / 2;
      end = next + 2;
      break;
    }
    if (!spanAt(tokens, next, false)) break;
    end = next;
  }
  if (end === at) return undefined;
  const ms = parseDuration(`${Math.round(total)}ms`);
  if (ms === undefined)
    throw new Refusal(`${quoted(said(tokens, start, end))} is no time: write "for 2 hours" or "for 1h30m".`);
  return { until: now + ms, end };
}

/** `2 hours`, `an hour`, `half an hour`, `1h30m`, `1.5 h`; with `bare`, `hour` alone. */
function spanAt(
  tokens: readonly Token[],
  at: number,
  bareUnit: boolean,
): { ms: number; unit: number; end: number } | undefined {
  const word = textAt(tokens, at);
  const compact = /^\d/.test(word) ? parseDuration(word) : undefined;
  if (compact !== undefined) return { ms: compact, unit: 0, end: at + 1 };
  const [, glued, suffix = ''] = /^(\d{1,6}(?:\.\d{1,3})?)-?([a-z]+)$/.exec(word) ?? [];
  const gluedUnit = unitOf(suffix);
  if (glued !== undefined && gluedUnit !== undefined)
    return { ms: Number(glued) * gluedUnit, unit: gluedUnit, end: at + 1 };
  if (word === 'half' && ['a', 'an'].includes(textAt(tokens, at + 1))) {
    const unit = unitOf(textAt(tokens, at + 2));
    return unit === undefined ? undefined : { ms: unit / 2, unit, end: at + 3 };
  }
  const count = countOf(word);
  const unit = unitOf(textAt(tokens, count === undefined ? at : at + 1));
  if (unit === undefined) return undefined;
  if (count !== undefined) return { ms: count * unit, unit, end: at + 2 };
  return bareUnit ? { ms: unit, unit, end: at + 1 } : undefined;
}

function countOf(word: string): number | undefined {
  if (/^\d{1,6}(?:\.\d{1,3})?$/.test(word)) return Number(word);
  if (word === 'a' || word === 'an') return 1;
  const place = COUNTS.indexOf(word);
  return place >= 0 ? place : TENS.get(word);
}

function unitOf(word: string): number | undefined {
  return UNIT_MS.get(word) ?? (word.endsWith('s') ? UNIT_MS.get(word.slice(0, -1)) : undefined);
}

/** `today`, `the rest of the day`. */
function todayAt(tokens: readonly Token[], start: number, now: number): NamedTime | undefined {
  const at = textAt(tokens, start) === 'the' ? start + 1 : start;
  const rest = textAt(tokens, at) === 'rest' && tokens[at + 1]?.sym === 'OF';
  const day = rest && textAt(tokens, at + 2) === 'the' ? at + 3 : rest ? at + 2 : at;
  const named = textAt(tokens, day) === 'today' || (rest && textAt(tokens, day) === 'day');
  return named ? { until: dayOf(now) + DAY_MS, end: day + 1 } : undefined;
}

function untilAt(tokens: readonly Token[], start: number, now: number): NamedTime {
  const found = endOfDay(tokens, start, now) ?? dayAt(tokens, start, now) ?? clockOf(tokens, start, now);
  if (!found) {
    throw new Refusal(
      `It is not clear until when ${quoted(said(tokens, start, start + 3))} is: no such time is known.`,
      ['Until when? Write "until 18:00", "until tomorrow", "until 2030-01-31T12:00:00Z" or "for 2 hours".'],
    );
  }
  if (!(found.until > now)) {
    throw new Refusal(
      `${quoted(said(tokens, start, found.end))} is no time to come: write it as 2030-01-31T12:00:00Z.`,
      ['Until when?'],
    );
  }
  return found;
}

function endOfDay(tokens: readonly Token[], start: number, now: number): NamedTime | undefined {
  const at = textAt(tokens, start) === 'the' ? start + 1 : start;
  const [end, of] = [textAt(tokens, at), tokens[at + 1]?.sym === 'OF'];
  if (end !== 'end' || !of) return undefined;
  const last = textAt(tokens, at + 2) === 'the' ? at + 3 : at + 2;
  return ['day', 'today'].includes(textAt(tokens, last)) ? { until: dayOf(now) + DAY_MS, end: last + 1 } : undefined;
}

/** A day, at its start unless a time of the clock follows; or an instant. */
function dayAt(tokens: readonly Token[], at: number, now: number): NamedTime | undefined {
  const word = textAt(tokens, at);
  if (/^\d{4}-\d\d-\d\dt/.test(word)) {
    const until = parseInstant(word.toUpperCase());
    return { until: Number.isNaN(until) ? 0 : until, end: at + 1 };
  }
  const date = /^\d{4}-\d\d-\d\d$/.test(word) ? parseInstant(`${word}T00:00:00Z`) : undefined;
  const day = date ?? namedDay(word === 'next' ? textAt(tokens, at + 1) : word, now);
  if (day === undefined) return undefined;
  const end = word === 'next' ? at + 2 : at + 1;
  const clock = clockAt(tokens, tokens[end]?.sym === 'ON' ? end + 1 : end);
  return clock ? { until: day + clock.ms, end: clock.end } : { until: day, end };
}

function namedDay(word: string, now: number): number | undefined {
  if (word === 'tomorrow') return dayOf(now) + DAY_MS;
  const weekday = WEEKDAYS.indexOf(word);
  if (weekday < 0) return undefined;
  const today = (Math.floor(now / DAY_MS) + EPOCH_WEEKDAY) % 7;
  return dayOf(now) + ((weekday - today + 7) % 7 || 7) * DAY_MS;
}

/** The next time the clock shows it. */
function clockOf(tokens: readonly Token[], at: number, now: number): NamedTime | undefined {
  const clock = clockAt(tokens, at);
  if (!clock) return undefined;
  const today = dayOf(now) + clock.ms;
  if (textAt(tokens, clock.end) === 'today') return { until: today, end: clock.end + 1 };
  return { until: today > now ? today : today + DAY_MS, end: clock.end };
}

function clockAt(tokens: readonly Token[], at: number): { ms: number; end: number } | undefined {
  const word = textAt(tokens, at);
  if (word === 'midnight') return zoned(tokens, { ms: 0, end: at + 1 });
  if (word === 'noon') return zoned(tokens, { ms: 12 * HOUR_MS, end: at + 1 });
  const [, hours, minutes = '0', glued] = /^(\d{1,2})(?::(\d\d))?(am|pm|z|utc)?$/.exec(word) ?? [];
  if (hours === undefined) return undefined;
  const next = textAt(tokens, at + 1);
  const half = glued === 'am' || glued === 'pm' ? glued : next === 'am' || next === 'pm' ? next : undefined;
  if (half === undefined && !word.includes(':')) return undefined;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half === 'pm' ? 12 : 0);
  const inRange =
    (half === undefined ? Number(hours) <= 23 : Number(hours) >= 1 && Number(hours) <= 12) && Number(minutes) <= 59;
  if (!inRange) return undefined;
  const end = half !== undefined && glued !== half ? at + 2 : at + 1;
  return zoned(tokens, { ms: hour * HOUR_MS + Number(minutes) * MINUTE_MS, end });
}

function zoned(tokens: readonly Token[], time: { ms: number; end: number }): { ms: number; end: number } {
  return ['utc', 'gmt', 'z'].includes(textAt(tokens, time.end)) ? { ...time, end: time.end + 1 } : time;
}

function dayOf(now: number): number {
  return Math.floor(now / DAY_MS) * DAY_MS;
}

function said(tokens: readonly Token[], from: number, to: number): string {
  return tokens
    .slice(from, to)
    .map(({ text }) => text)
    .join(' ');
}

function textAt(tokens: readonly Token[], at: number): string {
  const token = tokens[at];
  return token === undefined || token.quoted ? '' : token.text;
}
