import { isNoun } from '../grammar/nouns.ts';
import { textAt, type Word } from '../grammar/tokens.ts';
import type { Mention } from './mentions.ts';
import { ALL, ARTICLES, FROM, REACHING, TOWARDS } from './words.ts';

/** Mentions that make one side: "web-1, web-2 and web-3". */
export type Side = readonly Mention[];

/** After these, `from` says who is not reached: "blocked from db-1". */
const APART: ReadonlySet<string> = new Set([
  ...['blocked', 'barred', 'cut', 'off', 'out', 'away', 'disconnected', 'isolated', 'separated', 'apart', 'kept'],
]);
const STATES = /^(?:(?:un)?reachable|(?:un)?available|(?:in)?accessible|open|closed|blocked|down)$/;

/** Whether the second connects to the first: "access to db-1 from web-1", "db-1 was reached by web-1". */
export function isReversed(first: Side, second: Side, words: readonly Word[]): boolean {
  const [before, between] = [leadOf(first, words), leadOf(second, words)];
  if (TOWARDS.has(before.word)) return true;
  if (FROM.has(between.word)) return !FROM.has(before.word) && !APART.has(textAt(words, between.at - 1));
  const own = words.slice(first.at(-1)?.end ?? 0, between.at).map(({ text }) => text);
  return between.word === 'for' && own.some((word) => STATES.test(word));
}

/** Of the only side that is named: whether it is asked who reaches it. */
export function isReachedBy(side: Side, words: readonly Word[]): boolean {
  const lead = leadOf(side, words);
  const verb = words.findIndex(({ text }) => REACHING.has(text));
  const begin = side[0]?.begin ?? 0;
  if (verb < begin) return !FROM.has(lead.word);
  const end = side.at(-1)?.end ?? 0;
  const after = words.slice(verb, verb + 2).map(({ text }) => text);
  return verb >= end && after.some((word) => FROM.has(word));
}

/** The word before a side, articles and the like apart. */
function leadOf(side: Side, words: readonly Word[]): { readonly word: string; readonly at: number } {
  let at = (side[0]?.begin ?? 0) - 1;
  while (at >= 0 && isAside(textAt(words, at))) at -= 1;
  return { word: textAt(words, at), at };
}

function isAside(word: string): boolean {
  return ARTICLES.has(word) || ALL.has(word) || isNoun(word);
}
