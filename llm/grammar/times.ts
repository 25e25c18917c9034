import { parseDuration } from '../../core/base/duration.ts';
import { instantOfWall, wallTime } from '../../core/base/time-zone.ts';
import type { Token } from './lexicon.ts';
import { dayOf, type MomentReader, momentAt, type NamedTime, untilAt } from './moments.ts';
import { said as phrase, quoted, Refusal } from './refusal.ts';
import { textAt } from './tokens.ts';

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
export function timeAt(tokens: readonly Token[], at: number, reader: MomentReader): NamedTime | undefined {
  const word = textAt(tokens, at);
  if (tokens[at]?.sym === 'UNTIL') return untilAt(tokens, at + 1, reader);
  if (tokens[at]?.sym === 'FOR') return durationAt(tokens, at + 1, reader.now) ?? todayAt(tokens, at + 1, reader);
  if (['expiring', 'expires', 'ending', 'ends'].includes(word)) {
    const next = textAt(tokens, at + 1);
    if (next === 'in' || next === 'after') return durationAt(tokens, at + 2, reader.now);
    if (tokens[at + 1]?.sym === 'ON') return untilAt(tokens, at + 2, reader);
    return momentAt(tokens, at + 1, reader);
  }
  if (word === 'up' && tokens[at + 1]?.sym === 'TO') return momentAt(tokens, at + 2, reader);
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
export function spanAt(
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
function todayAt(tokens: readonly Token[], start: number, { now, timeZone }: MomentReader): NamedTime | undefined {
  const at = textAt(tokens, start) === 'the' ? start + 1 : start;
  const rest = textAt(tokens, at) === 'rest' && tokens[at + 1]?.sym === 'OF';
  const day = rest && textAt(tokens, at + 2) === 'the' ? at + 3 : rest ? at + 2 : at;
  const named = textAt(tokens, day) === 'today' || (rest && textAt(tokens, day) === 'day');
  return named ? { until: instantOfWall(dayOf(wallTime(now, timeZone)) + DAY_MS, timeZone), end: day + 1 } : undefined;
}

function said(tokens: readonly Token[], from: number, to: number): string {
  return tokens
    .slice(from, to)
    .map(({ text }) => text)
    .join(' ');
}

/** "For two hours, then for good": it ends then, or it does not. */
export function unclearEnd(tokens: readonly Token[], reader: MomentReader, joined: readonly Token[] = tokens): Refusal {
  const timed = new Set<Token>();
  for (const [at, token] of tokens.entries()) {
    const time = token.quoted ? undefined : timeAt(tokens, at, reader);
    for (const word of tokens.slice(at, time?.end ?? at)) timed.add(word);
  }
  const isIdle = ({ sym }: Token) => sym === 'COMMA' || sym === 'AND' || sym === 'THEN';
  const plain = (words: readonly Token[]) => {
    const kept = words.filter((token) => token.sym !== 'FOR_GOOD' && token.sym !== 'THEN');
    return phrase(kept.slice(0, kept.findLastIndex((token) => !isIdle(token)) + 1));
  };
  return new Refusal(
    `${quoted(phrase(joined))} ends after a time and does not end.`,
    ['Which of the two is meant? What ends is not begun again by itself.'],
    { choices: [plain(tokens.filter((token) => !timed.has(token))), plain(tokens)] },
  );
}
