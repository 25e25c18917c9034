import type { Sym, Token } from './lexicon.ts';
import { quoted, Refusal, said } from './refusal.ts';
import { timeAt } from './times.ts';
import type { Vocabulary } from './vocabulary.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const DAYS = 'monday tuesday wednesday thursday friday saturday sunday weekday weekend';
const PARTS = 'morning afternoon evening night noon midnight';
const MOMENTS = words(`${DAYS} ${PARTS} tomorrow`);
const AGAIN = words('daily nightly weekly monthly hourly yearly annually quarterly');
const UNITS = words(`minute hour day week month quarter year ${DAYS} ${PARTS}`);
const EVERY = words('every each');
const NEXT = words('next coming following');
const THIS = words('this');
const HOURS = words('business office working work opening peak school daytime night');
const CLOCK = /^(?:\d{1,2}:\d{2}(?::\d{2})?(?:am|pm)?|\d{1,2}(?:am|pm))$/;
const DATE = /^\d{4}-\d{2}-\d{2}(?:t[\d:.]+z?)?$/;
/** Words before a moment that belong to it. */
const LEADS = words(
  'from starting start starts beginning begin begins commencing effective as of after not before since on at in by during between around only except for the a an within until through and',
);
/** Words between the moments of one schedule, or behind it. */
const JOINS = words("to until and through or , - at on o'clock utc gmt am pm in the");
const HOUR = /^(?:[01]?\d|2[0-3])$/;

const plain = (text: string) => text.replace(/s$/, '');

/**
 * "From tomorrow 9:00", "on weekdays", "every Monday": a policy holds from when it is applied, until it ends.
 *
 * @throws Refusal quoting when it should hold
 */
export function refuseSchedules(tokens: readonly Token[], vocabulary: Vocabulary): void {
  const ends = endsIn(tokens, vocabulary);
  const found = tokens.findIndex((_, at) => !ends.has(at) && lengthAt(tokens, at, vocabulary) > 0);
  if (found < 0) return;
  let start = found;
  while (start > 0 && !ends.has(start - 1) && isOf(tokens[start - 1], LEADS)) start -= 1;
  let end = found;
  for (;;) {
    const length = lengthAt(tokens, end, vocabulary) || hourAt(tokens, end);
    if (length > 0) end += length;
    else if (isOf(tokens[end], JOINS) && goesOn(tokens, end, vocabulary)) end += 1;
    else break;
  }
  const span = tokens.slice(start, end);
  throw new Refusal(
    `${quoted(said(span))} says when it should hold, and policies know no start and no weekly hours: they hold as soon as they are applied, and may end.`,
    [
      `Should it hold at once? Then leave ${quoted(said(span))} out, or say how long it holds: "for 2 hours", "until 18:00". Else ask again when it is to begin.`,
    ],
    { final: true },
  );
}

/** The places of what says when it ends. */
function endsIn(tokens: readonly Token[], vocabulary: Vocabulary): ReadonlySet<number> {
  const places = new Set<number>();
  for (let at = 0; at < tokens.length; at++) {
    const time = tokens[at]?.quoted ? undefined : timeAt(tokens, at, vocabulary);
    for (let place = at; time && place < time.end; place++) places.add(place);
  }
  return places;
}

/** How many words name a moment, or one that comes again, from here on. */
function lengthAt(tokens: readonly Token[], at: number, vocabulary: Vocabulary): number {
  const { isName } = vocabulary;
  const token = tokens[at];
  if (!token || token.quoted || isName(token.text)) return 0;
  const { text } = token;
  const next = tokens[at + 1]?.text ?? '';
  if ((EVERY.has(text) || NEXT.has(text) || THIS.has(text)) && UNITS.has(plain(next)) && !isName(next)) return 2;
  if (EVERY.has(text) && next === 'other' && UNITS.has(plain(tokens[at + 2]?.text ?? ''))) return 3;
  if (HOURS.has(text) && next === 'hours') return 2;
  if (AGAIN.has(text)) return tokens[at + 1] === undefined || tokens[at + 1]?.sym !== undefined ? 1 : 0;
  if (MOMENTS.has(plain(text)) || CLOCK.test(text) || DATE.test(text)) return 1;
  if (text === 'in' || text === 'within') {
    const later = timeAt([FOR, ...tokens.slice(at + 1)], 0, vocabulary);
    return later ? later.end : 0;
  }
  // "From 9 to 17".
  const until = tokens[at + 2];
  const isHours =
    token.sym === 'FROM' && HOUR.test(next) && until?.sym === 'TO' && HOUR.test(tokens[at + 3]?.text ?? '');
  return isHours && !PORTS.has(tokens[at - 1]?.text ?? '') ? 4 : 0;
}

const FOR: Token = { text: 'for', quoted: false, sym: 'FOR' satisfies Sym };
const PORTS = words('port ports range');

/** "Tomorrow at 9". */
function hourAt(tokens: readonly Token[], at: number): number {
  const before = tokens[at - 1]?.text;
  return before === 'at' && HOUR.test(tokens[at]?.text ?? '') ? 1 : 0;
}

function goesOn(tokens: readonly Token[], at: number, vocabulary: Vocabulary): boolean {
  let next = at;
  while (isOf(tokens[next], JOINS)) next += 1;
  return lengthAt(tokens, next, vocabulary) + hourAt(tokens, next) > 0 || next === tokens.length;
}

function isOf(token: Token | undefined, set: ReadonlySet<string>): boolean {
  return token !== undefined && !token.quoted && token.text.split(' ').every((word) => set.has(word));
}
