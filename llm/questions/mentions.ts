import { foldName } from '../../core/base/record.ts';
import { notUnderstood, type PeerOverRange } from '../../core/history/pair/question-reader.ts';
import { parseAddress, parseCidr } from '../../core/model/cidr.ts';
import { quoted } from '../../core/model/find.ts';
import { nearestOf } from '../../core/model/with-nearest.ts';
import { isNoun, PEER_NOUNS } from '../grammar/nouns.ts';
import { textAt, type Word } from '../grammar/tokens.ts';
import { both, type Called, isSameSet, lookUpWords, type Meaning } from './called.ts';
import { serviceAt } from './ports.ts';
import { ALL, ARTICLES, COMMON, EVERYONE, LINKS, textOf } from './words.ts';

/** Words that name peers, with their articles and nouns: from `begin` up to `end`. */
export interface Mention {
  readonly begin: number;
  readonly end: number;
  readonly text: string;
  readonly meanings: readonly Meaning[];
  /** Addresses outside of all networks, as they are named, in place of peers. */
  readonly outside?: string;
  /** True for a group: "the ci runners", "all laptops", "anything in prod". */
  readonly isMany: boolean;
}

const MAX_WORDS_OF_NAME = 4;
/** Words before the name of a service that is a port ("over ssh"), not the peer that runs it. */
const BEFORE_PORT: ReadonlySet<string> = new Set([
  'on',
  'over',
  'via',
  'using',
  'port',
  'through',
  'for',
  'use',
  'speak',
]);
const PEERS: ReadonlySet<string> = new Set(
  PEER_NOUNS.flatMap((noun) => [noun, `${noun}s`]).concat('server', 'servers'),
);

/**
 * Whoever a question names, in order. The longest run of words that means somebody comes first: `ci runner` before
 * `runner`. What stands beside another or is linked to it narrows it: `prod web servers`, `anything in prod`.
 *
 * @throws MeshError that asks back, where nobody is both
 */
export function mentionsIn(words: readonly Word[], taken: ReadonlySet<number>, called: Called): Mention[] {
  const mentions: Mention[] = [];
  for (let at = 0; at < words.length; ) {
    const atom = taken.has(at) ? undefined : atomAt(words, at, taken, called);
    const last = mentions.at(-1);
    const joined = atom && last && joinedTo(last, atom, words);
    if (joined) mentions[mentions.length - 1] = joined;
    else if (atom) mentions.push(atom);
    at = atom?.end ?? at + 1;
  }
  return mentions.map((mention) => withNouns(mention, words, taken));
}

function atomAt(
  words: readonly Word[],
  begin: number,
  taken: ReadonlySet<number>,
  called: Called,
): Mention | undefined {
  const everyone = everyoneAt(words, begin, called);
  if (everyone) return everyone;
  for (let count = Math.min(MAX_WORDS_OF_NAME, words.length - begin); count > 0; count -= 1) {
    const run = words.slice(begin, begin + count);
    const isBroken = run.some(
      ({ text, quoted: isQuoted }, n) => text === ',' || (isQuoted && count > 1) || taken.has(begin + n),
    );
    if (isBroken) continue;
    const end = begin + count;
    const mention = (meanings: readonly Meaning[], isMany: boolean): Mention => ({
      begin,
      end,
      text: textOf(words, begin, end),
      meanings,
      isMany,
    });
    if (run[0]?.quoted) return mention(inQuotes(run[0].text, called), false);
    const isWord = count === 1 && (COMMON.has(run[0]?.text ?? '') || isPort(words, begin));
    const found = lookUpWords(
      run.map(({ text }) => text),
      called,
    );
    if (found && (found.isExact || !isWord)) return mention(found.meanings, found.isPlural);
  }
  return outsideAt(words, begin);
}

const OUTSIDE: ReadonlySet<string> = new Set(['outside', 'internet']);

/** `the internet`, `outside`, an address or a CIDR that is no peer's. */
function outsideAt(words: readonly Word[], begin: number): Mention | undefined {
  const text = textAt(words, begin);
  const isOutside = OUTSIDE.has(text) && !['of', 'the'].includes(textAt(words, begin + 1));
  if (!isOutside && !parseAddress(text) && !parseCidr(text)) return undefined;
  return { begin, end: begin + 1, text, meanings: [], isMany: false, outside: isOutside ? 'outside' : text };
}

const THINGS: ReadonlySet<string> = new Set(['anything', 'everything', 'nothing']);
const ASIDE: ReadonlySet<string> = new Set([
  'that',
  'which',
  'has',
  'have',
  'had',
  'was',
  'were',
  'is',
  'been',
  'else',
  'did',
  'ever',
]);

/** `did anything change`, `everything that happened`: what, not who. */
function isThing(words: readonly Word[], begin: number): boolean {
  let next = begin + 1;
  while (ASIDE.has(textAt(words, next))) next += 1;
  return THINGS.has(textAt(words, begin)) && /^(?:chang|happen|br[eo]|went|go|differ|done)/.test(textAt(words, next));
}

const DEED =
  /^(?:open|clos|block|let|allow|permit|chang|delet|creat|remov|renam|grant|g[ia]ve|approv|revok|touch|edit|modif|br[eo]|stop|expos|isolat)/;

/** `did anyone open db-1?`: who did it, not who connects; `anyone outside` is who is outside. */
function isDoer(words: readonly Word[], begin: number): boolean {
  const next = ['ever', 'else'].includes(textAt(words, begin + 1)) ? begin + 2 : begin + 1;
  if (DEED.test(textAt(words, next))) return textAt(words, begin - 1) === 'did' || /ed$/.test(textAt(words, next));
  let place = next;
  while (['from', 'on', 'in', 'the'].includes(textAt(words, place))) place += 1;
  return outsideAt(words, place)?.outside === 'outside';
}

/** `anything`, `every peer`, `all machines`. */
function everyoneAt(words: readonly Word[], begin: number, { all, exact }: Called): Mention | undefined {
  const word = textAt(words, begin);
  let end = begin;
  if (EVERYONE.has(word) && !isThing(words, begin) && !isDoer(words, begin)) end = begin + 1;
  else if (ALL.has(word)) {
    let next = begin + 1;
    while (['of', 'the', 'our', 'other'].includes(textAt(words, next))) next += 1;
    const [noun, after] = [textAt(words, next), textAt(words, next + 1)];
    if (PEERS.has(noun) && !exact.has(after)) end = next + 1;
  }
  if (end === begin || exact.has(word)) return undefined;
  return { begin, end, text: textOf(words, begin, end), meanings: [{ peers: all, term: '*' }], isMany: true };
}

/** @throws MeshError that asks back */
function inQuotes(text: string, called: Called): readonly Meaning[] {
  const peers = called.exact.get(foldName(text));
  const values = called.values.get(foldName(text));
  if (peers) return [{ peers }];
  if (values) return values;
  throw unknownName(text, called);
}

export function unknownName(text: string, called: Called): Error {
  const names = called.all.flatMap((peer) => peer.names);
  const near = nearestOf(text, new Set(names));
  const labels = nearestOf(text, called.values.keys());
  return notUnderstood(`There was no peer ${quoted(text)} in this range.`, near.length > 0 ? near : labels);
}

function isPort(words: readonly Word[], at: number): boolean {
  return serviceAt(words, at) !== undefined && BEFORE_PORT.has(textAt(words, at - 1));
}

/** Two mentions that are one; undefined where they are two. */
function joinedTo(last: Mention, next: Mention, words: readonly Word[]): Mention | undefined {
  const between = words.slice(last.end, next.begin).map(({ text }) => text);
  const isLinked = between.some((word) => LINKS.has(word));
  if (!between.every((word) => LINKS.has(word) || ARTICLES.has(word) || isNoun(word) || word === 'with'))
    return undefined;
  if (last.outside !== undefined || next.outside !== undefined) return undefined;
  const isLabel = ({ meanings }: Mention) => meanings.some(({ term }) => term !== undefined);
  if (isLinked ? !isLabel(next) : !(isLabel(last) && isLabel(next))) return undefined;
  const pairs = last.meanings.flatMap((a) => next.meanings.map((b) => both(a, b)));
  const meanings = pairs.filter(
    ({ peers }, at) => peers.length > 0 && !pairs.slice(0, at).some((one) => isSameSet(one.peers, peers)),
  );
  const text = textOf(words, last.begin, next.end);
  if (meanings.length === 0 && !isLinked) return undefined;
  if (meanings.length === 0) throw notUnderstood(`Nobody was ${quoted(text)} in this range.`);
  // "The web server in prod" is one, "anything in prod" and "prod servers" are many.
  return {
    begin: last.begin,
    end: next.end,
    text,
    meanings,
    isMany: isLinked ? last.isMany : last.isMany || next.isMany,
  };
}

/** With the words around it that say how many: "all the ci servers", "servers labelled role=db". */
function withNouns(mention: Mention, words: readonly Word[], taken: ReadonlySet<number>): Mention {
  let { begin, end, isMany } = mention;
  const free = (at: number) => !taken.has(at);
  while (free(end) && isNoun(textAt(words, end))) {
    isMany ||= isPluralNoun(textAt(words, end));
    end += 1;
  }
  let at = begin - 1;
  while (at >= 0 && free(at) && (LINKS.has(textAt(words, at)) || textAt(words, at) === 'with')) at -= 1;
  const hasNoun = at >= 0 && free(at) && isNoun(textAt(words, at));
  if (hasNoun) {
    isMany ||= isPluralNoun(textAt(words, at));
    begin = at;
  }
  for (at = begin - 1; at >= 0 && free(at); at -= 1) {
    const word = textAt(words, at);
    if (ALL.has(word)) isMany = true;
    else if (!ARTICLES.has(word) && !(word === 'of' && ALL.has(textAt(words, at - 1)))) break;
    begin = at;
  }
  return { ...mention, begin, end, isMany, text: textOf(words, begin, end) };
}

function isPluralNoun(word: string): boolean {
  return word.endsWith('s') && isNoun(word.slice(0, word === 'boxes' ? -2 : -1));
}

/** Returns the one peer of a mention, or all peers of a group. */
export function peersOf({ text, meanings, isMany }: Mention): {
  readonly peers: readonly PeerOverRange[];
  readonly term?: string;
} {
  const [meaning, other] = meanings;
  if (!meaning) throw notUnderstood(`Nobody was ${quoted(text)} in this range.`);
  if (other) {
    const terms = meanings.flatMap(({ term, peers }) => term ?? peers.map(({ peer }) => peer.name));
    throw notUnderstood(`${quoted(text)} has more than one meaning.`, terms);
  }
  if (isMany || meaning.peers.length === 1 || isCollective(text, meaning)) return meaning;
  const present = meaning.peers.filter(({ peer, isThere }) => isThere && hasLabels(peer.labels, meaning.term));
  if (present.length === 1) return { peers: present };
  const names = (present.length > 0 ? present : meaning.peers).map(({ peer }) => peer.name).sort();
  const whole = meaning.term === undefined ? [] : [meaning.term];
  const all = whole.length > 0 ? ', or about all of them' : '';
  throw notUnderstood(`${quoted(text)} matches ${names.length} peers: ask about one of them by its name${all}.`, [
    ...whole,
    ...names,
  ]);
}

const COLLECTIVES: ReadonlySet<string> = new Set([
  'env',
  'environment',
  'stage',
  'site',
  'zone',
  'region',
  'location',
  'team',
  'cluster',
]);

/** `prod` and `staging` are all who are there; `the prod server` is one. */
function isCollective(text: string, { term }: Meaning): boolean {
  const keys = (term ?? '').split(',').map((part) => part.slice(0, part.indexOf('=')));
  return keys.every((key) => COLLECTIVES.has(key)) && !isNoun(text.slice(text.lastIndexOf(' ') + 1));
}

function hasLabels(labels: Readonly<Record<string, string>>, term: string | undefined): boolean {
  return (term ?? '').split(',').every((part) => {
    const at = part.indexOf('=');
    return at < 0 || labels[part.slice(0, at)] === part.slice(at + 1);
  });
}
