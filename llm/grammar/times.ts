import { parseDuration } from '../../core/base/duration.ts';
import { instantOfWall, wallTime } from '../../core/base/time-zone.ts';
import { dayOf, type MomentReader, momentAt, type NamedTime, untilAt } from './moments.ts';
import { quoted, Refusal, textOf } from './refusal.ts';
import { textAt, type Word } from './tokens.ts';

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

/**
 * Reads `for 2 hours`, `for the next 30 minutes`, `until 18:00`, `until tomorrow`, `until 2030-01-31T12:00:00Z` from a place on.
 * Clock times and days are by the clocks of the reader's zone, or of one that is named.
 *
 * @returns undefined when no time stands there.
 * @throws Refusal for a time that cannot be read or has passed.
 */
export function timeAt(words: readonly Word[], at: number, reader: MomentReader): NamedTime | undefined {
  const word = textAt(words, at);
  if (['until', 'till', 'til'].includes(word)) return untilAt(words, at + 1, reader);
  if (word === 'for') return durationAt(words, at + 1, reader.now) ?? todayAt(words, at + 1, reader);
  if (['expiring', 'expires', 'ending', 'ends'].includes(word)) {
    const next = textAt(words, at + 1);
    if (next === 'in' || next === 'after') return durationAt(words, at + 2, reader.now);
    if (['on', 'at'].includes(textAt(words, at + 1))) return untilAt(words, at + 2, reader);
    return momentAt(words, at + 1, reader);
  }
  if (word === 'up' && textAt(words, at + 1) === 'to') return momentAt(words, at + 2, reader);
  return undefined;
}

function durationAt(words: readonly Word[], start: number, now: number): NamedTime | undefined {
  let at = start;
  while (['the', 'next', 'another', 'exactly', 'only'].includes(textAt(words, at))) at++;
  let total = 0;
  let end = at;
  for (;;) {
    const part = spanAt(words, end, end === at && at > start);
    if (!part) break;
    total += part.ms;
    end = part.end;
    const next = textAt(words, end) === 'and' ? end + 1 : end;
    if (textAt(words, next) === 'a' && textAt(words, next + 1) === 'half') {
      total += part.unit / 2;
      end = next + 2;
      break;
    }
    if (!spanAt(words, next, false)) break;
    end = next;
  }
  if (end === at) return undefined;
  const ms = parseDuration(`${Math.round(total)}ms`);
  if (ms === undefined)
    throw new Refusal(`${quoted(textOf(words.slice(start, end)))} is no time: write "for 2 hours" or "for 1h30m".`);
  return { until: now + ms, end, span: ms };
}

/** `2 hours`, `an hour`, `half an hour`, `1h30m`, `1.5 h`; with `bare`, `hour` alone. */
export function spanAt(
  words: readonly Word[],
  at: number,
  bareUnit: boolean,
): { ms: number; unit: number; end: number } | undefined {
  const word = textAt(words, at);
  const compact = /^\d/.test(word) ? parseDuration(word) : undefined;
  if (compact !== undefined) return { ms: compact, unit: 0, end: at + 1 };
  const [, glued, suffix = ''] = /^(\d{1,6}(?:\.\d{1,3})?)-?([a-z]+)$/.exec(word) ?? [];
  const gluedUnit = unitOf(suffix);
  if (glued !== undefined && gluedUnit !== undefined)
    return { ms: Number(glued) * gluedUnit, unit: gluedUnit, end: at + 1 };
  if (word === 'half' && ['a', 'an'].includes(textAt(words, at + 1))) {
    const unit = unitOf(textAt(words, at + 2));
    return unit === undefined ? undefined : { ms: unit / 2, unit, end: at + 3 };
  }
  const count = countOf(word);
  const unit = unitOf(textAt(words, count === undefined ? at : at + 1));
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
function todayAt(words: readonly Word[], start: number, { now, timeZone }: MomentReader): NamedTime | undefined {
  const at = textAt(words, start) === 'the' ? start + 1 : start;
  const rest = textAt(words, at) === 'rest' && textAt(words, at + 1) === 'of';
  const day = rest && textAt(words, at + 2) === 'the' ? at + 3 : rest ? at + 2 : at;
  const named = textAt(words, day) === 'today' || (rest && textAt(words, day) === 'day');
  return named ? { until: instantOfWall(dayOf(wallTime(now, timeZone)) + DAY_MS, timeZone), end: day + 1 } : undefined;
}
