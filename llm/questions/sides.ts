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
/** Verbs that keep the first peer from the second: "who blocked web-1 from db-1?" */
const PARTING =
  /^(?:(?:un)?block|bar|cut|disconnect|isolat|separat|ke(?:ep|pt)|shut|lock|bann?|exclud|prevent|stopp?)(?:e|s|d|ed|red|es|ing|ting)?$/;
/** Verbs whose object is the destination: "opened db-1 to web-1", "db-1 is accessible to web-1". */
const OPENING =
  /^(?:(?:re-?)?open(?:s|ed|ing)?|expos(?:e|es|ed|ing)|clos(?:e|es|ed|ing)|shut|(?:un)?(?:reachable|available)|(?:in)?accessible|visible)$/;
const CLOSING = /^(?:clos(?:e|es|ed|ing)|shut(?:s|ting)?)$/;
const STATES = /^(?:(?:un)?reachable|(?:un)?available|(?:in)?accessible|open|closed|blocked|down)$/;
/** Words after the source of a connection: "opened the port so that web-1 may connect to db-1", "opened web-1's access to db-1". */
const GOING =
  /^(?:access|connect(?:s|ed|ing|ions?)?|get|gets|reach(?:es|ed|ing)?|talk(?:s|ed|ing)?|communicate|contact|speak|see|path|route|traffic)$/;
/** Done by the one that is connected to: "db-1 refuses web-1", "web-1 was refused by db-1". */
const ANSWERING =
  /^(?:(?:accept|reject|block|allow|admit|drop|answer)(?:s|ed|ped|ted|ing|ping|ting)?|refus(?:e|es|ed|ing)|ignor(?:e|es|ed|ing)|den(?:y|ies|ied|ying))$/;
/** "Web-1 answers on 443 for laptops." */
const SERVING = /^(?:answer|serv|respond|listen|work)(?:e|s|ed|es|ing)?$/;
/** "Who took db-1 away from ci?" */
const TAKING = /^(?:took|take|takes|taken)$/;
const BEING: ReadonlySet<string> = new Set(['is', 'are', 'was', 'were', 'be', 'been', 'being', 'get', 'got']);

/** Tells whether the second side connects to the first: "access to db-1 from web-1", "db-1 was reached by web-1". */
export function isReversed(first: Side, second: Side, words: readonly Word[]): boolean {
  const [before, between] = [leadOf(first, words), leadOf(second, words)];
  const isWhatHappened = /^happen/.test(textAt(words, before.at - 1));
  if (TOWARDS.has(before.word) && !isWhatHappened) return before.word !== 'with' || !TOWARDS.has(between.word);
  const own = textsOf(words, first.at(-1)?.end ?? 0, between.at);
  const earlier = textsOf(words, 0, first[0]?.begin ?? 0);
  const isFrom = FROM.has(before.word);
  const last = own.at(-1) ?? '';
  switch (between.word) {
    case 'from':
      if (last === 'away' && TAKING.test(earlier.at(-1) ?? '')) return true;
      return !isFrom && !APART.has(last) && !lastOf(earlier, PARTING);
    case 'by':
      return !isFrom && !ANSWERING.test(last);
    case 'for':
    case 'to': {
      if (between.word === 'for' && own.some((word) => STATES.test(word) || SERVING.test(word))) return true;
      const isOpened = own.some((word) => OPENING.test(word)) || lastOf(earlier, OPENING);
      return isOpened && !isFrom && before.word !== 'for' && !own.some((word) => GOING.test(word));
    }
    default:
      return ANSWERING.test(between.word) && !BEING.has(last);
  }
}

/** "What closed web-1 to db-1?" may mean connections into web-1, or from web-1 to db-1. */
export function isEitherWay(first: Side, second: Side, words: readonly Word[]): boolean {
  const [before, between] = [leadOf(first, words), leadOf(second, words)];
  return CLOSING.test(before.word) && between.word === 'to' && between.at === (first.at(-1)?.end ?? 0);
}

/** Tells whether the last verb that relates the two sides is of this kind. */
function lastOf(texts: readonly string[], kind: RegExp): boolean {
  const verb = texts.findLast((text) => PARTING.test(text) || OPENING.test(text) || GOING.test(text));
  return verb !== undefined && kind.test(verb);
}

const textsOf = (words: readonly Word[], begin: number, end: number) =>
  words.slice(begin, Math.max(begin, end)).map(({ text }) => text);

/** Tells whether a question with one side asks who reaches it. */
export function isReachedBy(side: Side, words: readonly Word[]): boolean {
  const lead = leadOf(side, words);
  if (isOpenedTo(words, leadOf(side, words).at)) return true;
  const verb = words.findIndex(({ text }) => REACHING.has(text));
  const begin = side[0]?.begin ?? 0;
  if (verb < begin) return !FROM.has(lead.word);
  const end = side.at(-1)?.end ?? 0;
  const after = words.slice(verb, verb + 2).map(({ text }) => text);
  return verb >= end && after.some((word) => FROM.has(word));
}

/** "To whom was db-1 opened?", "what is db-1 open to?" @param lead index of the word before the only name */
export function isOpenedTo(words: readonly Word[], lead?: number): boolean {
  return words.some(({ text }, at) => {
    if (text !== 'to' || at === lead) return false;
    const isAsked = lead !== undefined || at === words.length - 1 || WHOM.has(textAt(words, at + 1));
    const earlier = textsOf(words, 0, at);
    return (
      isAsked && (lastOf(earlier, OPENING) || (earlier.length === 0 && words.some((word) => OPENING.test(word.text))))
    );
  });
}

const WHOM: ReadonlySet<string> = new Set(['whom', 'who', 'what', 'which']);

/** Tells whether a question with one side asks about connections to it: "what broke https to web-1?", "who opened the laptops?" */
export function isTarget(side: Side, words: readonly Word[]): boolean {
  const { word, at } = leadOf(side, words);
  const end = side.at(-1)?.end ?? 0;
  if (TOWARDS.has(word) || OPENING.test(word) || OPENING.test(textAt(words, end))) return true;
  return ['on', 'of', 'at'].includes(word) && textsOf(words, 0, at).some((text) => OPENING.test(text));
}

/** Tells whether the second side is a label of the first: "who moved web-1 to staging?", "since when is web-1 in prod?" */
export function isOwnLabel(first: Side, second: Side, words: readonly Word[]): boolean {
  const [label, other] = second.flatMap(({ meanings }) => meanings);
  const between = textsOf(words, first.at(-1)?.end ?? 0, second[0]?.begin ?? 0);
  const isMoved =
    /^(?:mov(?:e|es|ed)|add(?:s|ed)?|puts?)$/.test(textAt(words, (first[0]?.begin ?? 0) - 1)) ||
    between.some((text) => /^mov/.test(text));
  const isIn = between.at(-1) === 'in' && between.every((text) => BEING.has(text) || ['in', 'now'].includes(text));
  return label?.term?.includes('=') === true && !other && (isMoved || isIn);
}

/** Tells whether a question asks what the only side reaches: "what is exposed to the internet?" */
export function isExposedTo(side: Side, words: readonly Word[]): boolean {
  const { word, at } = leadOf(side, words);
  return word === 'to' && OPENING.test(textAt(words, at - 1)) && /^(?:what|which)$/.test(textAt(words, 0));
}

/** Returns the word before a side, skipping articles and nouns. */
function leadOf(side: Side, words: readonly Word[]): { readonly word: string; readonly at: number } {
  let at = (side[0]?.begin ?? 0) - 1;
  while (at >= 0 && isAside(textAt(words, at))) at -= 1;
  return { word: textAt(words, at), at };
}

function isAside(word: string): boolean {
  return ARTICLES.has(word) || ALL.has(word) || isNoun(word);
}
