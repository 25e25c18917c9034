import { textAt, type Word } from '../grammar/tokens.ts';
import type { Called } from './called.ts';
import { unknownName } from './mentions.ts';
import { unknownMoment } from './times.ts';
import { ALL, ARTICLES, COMMON, COUNTS, FROM, TOWARDS, textOf } from './words.ts';

/** Said right before a name. */
const BEFORE_NAME: ReadonlySet<string> = new Set([
  ...TOWARDS,
  ...FROM,
  ...ALL,
  ...['in', 'for', 'of', 'between', 'peer', 'node', 'policy', 'named', 'called'],
]);
const BEFORE_MOMENT: ReadonlySet<string> = new Set(['before', 'after', 'during', 'between']);
/** Words that bound a time, or part two names, wherever they mean anything. */
const BOUNDS: ReadonlySet<string> = new Set(['between', 'during', 'since', 'until', 'till', 'before', 'after']);

/**
 * The words that nothing was made of and that say something.
 *
 * @throws MeshError that asks back, where such a word says who or when
 */
export function unusedOf(words: readonly Word[], taken: ReadonlySet<number>, called: Called, sides: number): string[] {
  const unused: string[] = [];
  for (const [at, { text }] of words.entries()) {
    if (taken.has(at) || text.length < 2) continue;
    if ((BOUNDS.has(text) && isUnused(words, at, taken)) || isUncounted(words, at)) unused.push(text);
    if (COMMON.has(text) || ARTICLES.has(text) || COUNTS.has(text)) continue;
    if (CLOCK_OR_DATE.test(text)) throw unknownMoment(text);
    let before = at - 1;
    while (ARTICLES.has(textAt(words, before)) || COUNTS.has(textAt(words, before))) before -= 1;
    const lead = textAt(words, before);
    if (BEFORE_MOMENT.has(lead) && sides !== 1) throw unknownMoment(textOf(words, before + 1, at + 1));
    if (/[\d=]/.test(text) || text.includes('-') || BEFORE_NAME.has(lead)) throw unknownName(text, called);
    unused.push(text);
  }
  const [first] = unused;
  if (first !== undefined && sides === 0) throw unknownName(first, called);
  return unused;
}

/** How long something was is not counted; "how long can" asks for its end. */
function isUncounted(words: readonly Word[], at: number): boolean {
  const isEnd = ['can', 'may', 'will'].includes(textAt(words, at + 1));
  return textAt(words, at) === 'long'
    ? !isEnd
    : /^(?:second|minute|hour|day|week|month|year)s?$/.test(textAt(words, at));
}

const CLOCK_OR_DATE = /^(?:\d{1,2}:\d\d|\d{4}-\d\d)/;

/** `since when` asks, and what stands before a name parts names; at the end it says nothing. */
function isUnused(words: readonly Word[], at: number, taken: ReadonlySet<number>): boolean {
  let next = at + 1;
  while (ARTICLES.has(textAt(words, next)) || ALL.has(textAt(words, next))) next += 1;
  const isParting = textAt(words, at) === 'between' && taken.has(next);
  return !isParting && !['when', 'now', ''].includes(textAt(words, next));
}
