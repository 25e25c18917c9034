import type { Names } from './names.ts';
import { quoted, Refusal, textOf } from './refusal.ts';
import type { Token } from './token.ts';
import { type Group, labeled, readGroup } from './who.ts';

/** An end of what a clause asks for. */
export interface Side {
  readonly groups: readonly Group[];
  readonly except: readonly Group[];
}

/**
 * Reads names joined by "and", and those left out behind "except".
 *
 * @throws Refusal for names that are not there, and where it is not clear for which of them a word holds
 */
export function readSide(tokens: readonly Token[], names: Names, isEither: boolean): Side {
  const [first = [], ...excepted] = split(tokens, 'EXCEPT').map((part) =>
    listOf(part, isEither || part[0]?.sym === 'OR'),
  );
  if (excepted.length > 1 || excepted.some((part) => part.length === 0))
    throw new Refusal(`${quoted(textOf(tokens))} leaves out more than one thing.`, ['Who is left out, of whom?']);
  const groups = first.map((words) => readGroup(words, names));
  const except = excepted.flat().map((words) => readGroup(words, names));
  const [own, left] = [groups, except].map((list) => withSharedNoun(list));
  for (const list of [own, left]) refuseUnclearList(list ?? [], tokens);
  return { groups: distinct(own ?? []), except: distinct(left ?? []) };
}

/** "Prod and staging databases": databases of both. */
function withSharedNoun(groups: readonly Group[]): readonly Group[] {
  const last = groups.at(-1);
  const own = last?.pairs.find(({ key }) => !NOUN_KEYS.has(key.toLowerCase()));
  const bare = groups.slice(0, -1);
  const isShared =
    last?.pairs.length === 2 &&
    own &&
    bare.every(({ pairs: [only, second], isLinked }) => only?.key === own.key && !second && !isLinked);
  if (!isShared || last.isLinked || bare.length === 0) return groups;
  const noun = last.pairs.filter((pair) => pair !== own);
  return [...bare.map(({ word, pairs }) => labeled([...pairs, ...noun], word)), last];
}

function distinct(groups: readonly Group[]): Group[] {
  return [...new Map(groups.map((group) => [group.word, group])).values()];
}

/** The phrases of a list; "and" joins all of them, "or" only where any of them is meant. */
function listOf(tokens: readonly Token[], isEither: boolean): (readonly Token[])[] {
  if (!isEither && tokens.some(({ sym }) => sym === 'OR'))
    throw new Refusal(`${quoted(textOf(tokens))} leaves open which of them.`, ['Which of them, or all of them?']);
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (token.sym === 'AND' || token.sym === 'COMMA' || token.sym === 'OR') parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts.filter((part) => part.length > 0);
}

function split(tokens: readonly Token[], sym: Token['sym']): Token[][] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (token.sym === sym) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

/** Keys of labels that say what a peer is; others say which of them is meant. */
const NOUN_KEYS: ReadonlySet<string> = new Set(
  'role app application device type kind function service class team'.split(' '),
);

/** "Prod web and api", "web and api in prod", "plcs in the north and south", "role=web and env=prod". */
function refuseUnclearList(groups: readonly Group[], tokens: readonly Token[]): void {
  const labels = groups.filter(({ kind }) => kind === 'labels');
  if (labels.length < 2) return;
  const isNarrowed = labels.some(({ pairs }) => pairs.length > 1);
  const isAlike = labels.every(({ pairs }) => keysOf(pairs) === keysOf(labels[0]?.pairs ?? []));
  const isPlain = labels.every(({ pairs, isLinked }) => pairs.length === 1 && !isLinked);
  const isMixed = labels.some(({ pairs: [pair] }) => NOUN_KEYS.has(pair?.key.toLowerCase() ?? ''));
  const isNounAlways = labels.every(({ pairs: [pair] }) => NOUN_KEYS.has(pair?.key.toLowerCase() ?? ''));
  if (isPlain && (isNounAlways || !isMixed)) return;
  if (isNarrowed && isAlike && labels.length === groups.length) return;
  throw new Refusal(`In ${quoted(textOf(tokens))} it is not clear which words hold for all of them.`, [
    'Who is meant? Write each with all of its labels, such as role=web,env=prod.',
  ]);
}

function keysOf(pairs: Group['pairs']): string {
  return pairs
    .map(({ key }) => key)
    .sort()
    .join();
}
