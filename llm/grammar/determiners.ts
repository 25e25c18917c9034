import { formsOf, isNameIn, type Names } from './names.ts';
import { isNoun, PEER_NOUNS } from './nouns.ts';

const QUANTIFIERS: ReadonlySet<string> = new Set(['all', 'every', 'each', 'any']);

export const ARTICLES: ReadonlySet<string> = new Set(['the', 'our', 'my', 'a', 'an']);

const COUNTS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];

interface Determined {
  readonly rest: readonly string[];
  readonly article: boolean;
  readonly count: number | undefined;
  readonly isAll: boolean;
}

/** Takes `the`, `all`, `both` and `the two` from the start. */
export function determined(words: readonly string[]): Determined {
  let at = 0;
  let [article, isAll] = [false, false];
  let count: number | undefined;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    const isOfAll = word === 'of' && isAll;
    const number = word === 'both' ? 2 : COUNTS.indexOf(word) + 1 || (/^\d{1,3}$/.test(word) ? Number(word) : 0);
    if (ARTICLES.has(word)) article = true;
    else if (QUANTIFIERS.has(word)) isAll = true;
    else if (number > 0 && count === undefined) count = number;
    else if (!isOfAll) break;
  }
  return { rest: words.slice(at), article, count, isAll };
}

/** Words for one thing that somebody has, with an article or without. */
const DEVICES: ReadonlySet<string> = new Set([
  ...PEER_NOUNS,
  ...[
    'server',
    'box',
    'instance',
    'laptop',
    'desktop',
    'workstation',
    'phone',
    'tablet',
    'printer',
    'camera',
    'sensor',
    'vm',
  ],
]);

/** Words for what may be many: "the web tier", "the api". */
const COLLECTIVE: ReadonlySet<string> = new Set(
  'group tier role environment cluster fleet team zone site network mesh staff web api ci cd app frontend backend edge infra iot monitoring backup'.split(
    ' ',
  ),
);

/** Labels whose values are groups by their nature. */
const GROUPING: ReadonlySet<string> = new Set(
  'owner user person employee member customer tenant account team env environment tier group site zone region location department stage'.split(
    ' ',
  ),
);

/** "The historian" and "web server" are one; "sensors", "ops", "the api" and "the dev team" may be many. */
export function isOne(head: readonly string[], article: boolean, names: Names): boolean {
  const last = head.at(-1) ?? '';
  if (last.includes('=')) return false;
  if (DEVICES.has(last.slice(last.lastIndexOf('-') + 1))) return true;
  if (!article || COLLECTIVE.has(last) || last.endsWith('s')) return false;
  return formsOf(last)
    .flatMap((form) => names.byValue.get(form) ?? [])
    .some(({ key }) => !GROUPING.has(key.toLowerCase()));
}

export function isFiller(word: string, names: Names): boolean {
  return isNoun(word) && !isNameIn(names, word);
}
