import { clockText } from '../../core/base/time-zone.ts';
import type { QuestionTime } from '../../core/history/pair/question-reader.ts';
import { notUnderstood } from '../../core/history/pair/question-reader.ts';
import { quoted } from '../../core/model/find.ts';
import { spanAt } from '../grammar/times.ts';
import { textAt, type Word } from '../grammar/tokens.ts';
import type { Clocks } from '../grammar/zones.ts';
import { clockRangeAt } from './clock-ranges.ts';
import { dayPhraseAt } from './days.ts';
import { ABOUT, type Moment, momentAt } from './moments.ts';
import { ARTICLES, REACHING, textOf } from './words.ts';

/** The time that a question names, and which of its words say it. */
export interface TimeInWords {
  readonly time?: QuestionTime;
  readonly used: ReadonlySet<number>;
}

interface Phrase extends Pick<QuestionTime, 'from' | 'to'> {
  readonly begin: number;
  readonly end: number;
  /** Said as two moments. */
  readonly isRange?: true;
}

const MINUTE_MS = 60_000;
const SINCE: ReadonlySet<string> = new Set(['since', 'from', 'after', 'starting', 'beginning']);
const UNTIL: ReadonlySet<string> = new Set(['until', 'till', 'before', 'by']);
const MOMENT_FORMS = 'Write it as "last Tuesday at 15:00", "an hour ago", "2026-01-31" or 2026-01-31T12:00:00Z.';

/**
 * `since last Tuesday at 3`, `yesterday evening`, `between Monday and Wednesday`, `until an hour ago`.
 *
 * @throws MeshError that asks back, for a moment that is to come, one that is not known, and several that do not fit
 */
export function timeIn(words: readonly Word[], clocks: Clocks): TimeInWords {
  const phrases: Phrase[] = [];
  for (let at = 0; at < words.length; ) {
    const phrase = phraseAt(words, at, clocks);
    if (phrase) phrases.push(phrase);
    else if (['since', 'until', 'till'].includes(textAt(words, at))) requireWhen(words, at);
    at = phrase?.end ?? at + 1;
  }
  const used = new Set(phrases.flatMap(({ begin, end }) => Array.from({ length: end - begin }, (_, n) => begin + n)));
  const [first, second, third] = phrases;
  if (!first) return { used };
  const [early, late] =
    second && second.from !== undefined && second.to === undefined ? [second, first] : [first, second];
  const fits = !third && (!late || (early.to === undefined && late.from === undefined));
  if (!fits) {
    const said = phrases.map(({ begin, end }) => quoted(textOf(words, begin, end)));
    throw notUnderstood(`Several times are named, ${said.join(' and ')}: ask about one.`);
  }
  const [from, to] = withMinute([early.from, late ? late.to : early.to], words, clocks);
  const text = phrases.map(({ begin, end }) => textOf(words, begin, end)).join(' ');
  const said = `${quoted(text)} is ${timeText({ from, to }, clocks)}`;
  if ((from ?? 0) > clocks.now || (to ?? 0) > clocks.now)
    throw notUnderstood(`${said}, which lies in the future: ask about what has been.`);
  const isRange = late !== undefined || early.isRange;
  if (from !== undefined && to !== undefined && isRange && to <= from)
    throw notUnderstood(`${said}, which ends before it begins.`);
  return { time: { said, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }, used };
}

const HAPPENED = /^(?:chang|happen|delet|creat|remov|renam|relabel|join)/;

/** Events "at 18:49" are looked for within that minute. */
function withMinute(
  [from, to]: [from: number | undefined, to: number | undefined],
  words: readonly Word[],
  { now }: Clocks,
): [from: number | undefined, to: number | undefined] {
  const has = (test: (text: string) => boolean) => words.some((_, at) => test(textAt(words, at)));
  const asksWhat = has((text) => HAPPENED.test(text)) && !has((text) => REACHING.has(text));
  if (!asksWhat || from === undefined || from !== to || from > now) return [from, to];
  const begin = Math.floor(from / MINUTE_MS) * MINUTE_MS;
  return [begin, Math.min(now, begin + MINUTE_MS)];
}

function timeText({ from, to }: { from: number | undefined; to: number | undefined }, { timeZone }: Clocks): string {
  const text = (at: number) => clockText(at, timeZone);
  if (from === undefined) return `up to ${text(to ?? 0)} (${timeZone})`;
  if (to === undefined) return `from ${text(from)} (${timeZone})`;
  return from === to ? `${text(from)} (${timeZone})` : `${text(from)} to ${text(to)} (${timeZone})`;
}

function phraseAt(words: readonly Word[], at: number, clocks: Clocks): Phrase | undefined {
  const word = textAt(words, at);
  const ofOneDay = clockRangeAt(words, at, clocks);
  if (ofOneDay) return { begin: at, ...ofOneDay, isRange: true };
  if (word === 'between' || word === 'from') {
    const first = momentAt(words, at + 1, clocks);
    const joins = word === 'between' ? ['and'] : ['to', 'until', 'till', '-'];
    const second =
      first && joins.includes(textAt(words, first.end))
        ? (momentAt(words, first.end + 1, clocks) ?? nowAt(words, first.end + 1, clocks))
        : undefined;
    if (first && second) return { begin: at, end: second.end, from: first.from, to: second.to, isRange: true };
    if (first && word === 'between') {
      const next = textAt(words, first.end) === 'and' ? first.end + 1 : first.end;
      throw unknownMoment(textOf(words, next, next + 3));
    }
  }
  const around = aroundAt(words, at, clocks);
  if (around) return around;
  const asOf = word === 'as' && ['of', 'from'].includes(textAt(words, at + 1));
  if (SINCE.has(word) || asOf) {
    const next = asOf ? at + 2 : at + 1;
    const moment = momentAt(words, next, clocks) ?? bareHourAt(words, next, clocks);
    return moment && { begin: at, end: moment.end, from: word === 'after' ? moment.to : moment.from };
  }
  const up = word === 'up' && ['to', 'until'].includes(textAt(words, at + 1));
  if (UNTIL.has(word) || up) {
    const moment = momentAt(words, up ? at + 2 : at + 1, clocks);
    return moment && { begin: at, end: moment.end, to: up ? moment.to : moment.from };
  }
  const moment = momentAt(words, at, clocks);
  if (!moment) return undefined;
  const until = ['to', 'until', 'till'].includes(textAt(words, moment.end))
    ? momentAt(words, moment.end + 1, clocks)
    : undefined;
  if (until) return { begin: at, end: until.end, from: moment.from, to: until.to, isRange: true };
  return { begin: at, end: moment.end, from: moment.from, to: moment.to };
}

function nowAt(words: readonly Word[], at: number, { now }: Clocks): Moment | undefined {
  return textAt(words, at) === 'now' ? { from: now, to: now, end: at + 1 } : undefined;
}

/** `in the hour before 18:50`, `5 minutes after 18:50`, `within five minutes of 18:50` */
function aroundAt(words: readonly Word[], start: number, clocks: Clocks): Phrase | undefined {
  const within = ['in', 'during', 'within'].includes(textAt(words, start)) ? start + 1 : start;
  const isThe = textAt(words, within) === 'the';
  const span = spanAt(words, isThe ? within + 1 : within, isThe);
  const side = span && textAt(words, span.end);
  const isDay = dayPhraseAt(words, within, clocks) !== undefined;
  if (!span || !side || isDay || !['before', 'after', 'of'].includes(side)) return undefined;
  const moment = momentAt(words, span.end + 1, clocks);
  if (!moment) return undefined;
  const from = side === 'after' ? moment.from : moment.from - span.ms;
  const to = side === 'before' ? moment.to : Math.min(clocks.now, moment.to + span.ms);
  return { begin: start, end: moment.end, from, to, isRange: true };
}

/** `since 9`, `since about 9`: as after `at`. */
function bareHourAt(words: readonly Word[], start: number, clocks: Clocks): Moment | undefined {
  const at = ABOUT.has(textAt(words, start)) ? start + 1 : start;
  const moment = momentAt([{ text: 'at', quoted: false }, ...words.slice(at, at + 1)], 0, clocks);
  return moment && { ...moment, end: at + 1 };
}

/** "Since when" asks for the moment; "since the audit" names one that nobody knows. */
function requireWhen(words: readonly Word[], at: number): void {
  const next = textAt(words, at + 1);
  if (next === 'when' || next === 'now' || next === '') return;
  throw unknownMoment(textOf(words, at + 1, at + (ARTICLES.has(next) || ABOUT.has(next) ? 3 : 2)));
}

export function unknownMoment(text: string): Error {
  return notUnderstood(`It is not known when ${quoted(text)} was. ${MOMENT_FORMS}`);
}
