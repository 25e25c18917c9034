import type { NetworkState } from '../../core/state/state.ts';
import type { Token } from './lexicon.ts';
import { formsOf, type Names, namesOf, type Pair } from './names.ts';
import { isFillerNoun } from './nouns.ts';
import { ARTICLES, LINKS } from './phrases.ts';
import { quoted, Refusal, said } from './refusal.ts';
import { labelled, type Subject } from './subject.ts';

/**
 * What a modifier beside "and" is about. "Lyon and berlin laptops" are laptops of either site and "laptops of alice and
 * bob" those of each; "prod web and app" and "web and app in prod" can be read in two ways and are asked about.
 *
 * @throws Refusal with each reading as a choice.
 */
export function conjoined(
  items: readonly (readonly Token[])[],
  subjects: readonly Subject[],
  tokens: readonly Token[],
  state: NetworkState,
): Subject[] {
  if (items.length < 2) return [...subjects];
  const names = namesOf(state);
  const parts = items.map((item, at) => partOf(item, subjects[at], names));
  const carried = parts.map((part, at) => carriedTo(part, at, parts));
  const sure = carried.map((all) => all.filter((one) => one.sure));
  const met = meeting(parts);
  if (!met && carried.every((all) => all.every((one) => one.sure)))
    return parts.map((part, at) => subjectOf(part, sure[at] ?? [], subjects[at] as Subject));
  const textOf = (carry: readonly (readonly Carried[])[]) =>
    worded(parts.map((part, at) => wordsOf(part, carry[at] ?? [], items[at] ?? [])));
  throw new Refusal(
    `In ${quoted(said(tokens))} it is not clear which words hold for all that is joined, and which for one alone.`,
    ['Which of these is meant?'],
    { replace: tokens, by: [...new Set([textOf(carried), textOf(sure), ...(met ? [met] : [])])] },
  );
}

/** One of those that are joined: what is said before its noun, its noun, and what is said behind it. */
interface Part {
  readonly before: readonly Pair[];
  readonly noun: Pair | undefined;
  readonly behind: readonly Pair[];
  /** The word that what is said behind begins with. */
  readonly link: string | undefined;
  /** Labels as `key=value`, and peers and addresses: they give nothing to others. */
  readonly isExact: boolean;
  /** Nothing can be said of them besides. */
  readonly isComplete: boolean;
  readonly subject: Subject | undefined;
}

interface Carried {
  readonly pair: Pair;
  readonly sure: boolean;
}

/** Keys of labels that say what a peer is; others say which of them is meant. */
const NOUN_KEYS: ReadonlySet<string> = new Set([
  ...['role', 'app', 'application', 'device', 'type', 'kind', 'function', 'service', 'class'],
]);

function partOf(item: readonly Token[], subject: Subject | undefined, names: Names): Part {
  const pairs = Object.entries(subject?.selector?.matchLabels ?? {}).flatMap(
    ([key, value]) => names.pairOf.get(`${key}=${value}`) ?? [],
  );
  const words = item.map(({ text, sym }) => (sym === 'OF' ? 'of' : text)).filter((word) => !ARTICLES.has(word));
  const [first = '', second] = words;
  const isAll = first === 'all' && second === 'of';
  const isNamed = pairs.length === 0 || (second === undefined && names.byName.has(first));
  const link = isNamed || isAll ? -1 : words.findIndex((word, at) => at > 0 && LINKS.has(word));
  const part = { link: words[link], isComplete: isNamed || isAll, subject };
  if (part.isComplete || words.some((word) => word.includes('=')))
    return { ...part, before: [], noun: undefined, behind: pairs, isExact: true };
  const end = link < 0 ? words.length : link;
  const placeOf = ({ value }: Pair) => words.findIndex((word) => formsOf(word).includes(value.toLowerCase()));
  const behind = pairs.filter((pair) => placeOf(pair) > end);
  const own = pairs.filter((pair) => !behind.includes(pair)).toSorted((a, b) => placeOf(a) - placeOf(b));
  const last = own.at(-1);
  const isFiller = isFillerNoun(words[end - 1] ?? '', names);
  const noun = last && (!isFiller || own.length > 1 || NOUN_KEYS.has(last.key.toLowerCase())) ? last : undefined;
  return {
    ...part,
    before: own.filter((pair) => pair !== noun),
    noun,
    behind,
    isExact: false,
  };
}

function pairsOf({ before, noun, behind }: Part): Pair[] {
  return [...before, ...(noun ? [noun] : []), ...behind];
}

function has(pairs: readonly Pair[], { key }: Pair): boolean {
  return pairs.some((pair) => pair.key === key);
}

/** What the others may say of a part as well: what stands before the first noun, behind the last, and their nouns. */
function carriedTo(part: Part, at: number, parts: readonly Part[]): Carried[] {
  if (part.isComplete) return [];
  const own = pairsOf(part);
  const [only] = own;
  const isBare = own.length === 1 && part.link === undefined && !part.isExact;
  const found: Carried[] = [];
  const carry = (pairs: readonly Pair[], sure: boolean) => {
    for (const pair of pairs)
      if (
        isSaidOf(pair, part) &&
        !has(
          found.map((one) => one.pair),
          pair,
        )
      )
        found.push({ pair, sure });
  };
  for (const other of parts.slice(0, at).toReversed()) {
    if (other.isExact) continue;
    const named = [...other.before, ...(other.noun ? [other.noun] : [])];
    const same = isBare && only;
    if (same && has(other.behind, only)) carry(named, other.link === 'of');
    else if (same && (has(other.before, only) || other.link !== undefined)) carry(named, false);
    else carry(other.before, false);
  }
  for (const other of parts.slice(at + 1)) {
    if (other.isExact) continue;
    if (isBare && only && other.noun && has(other.before, only)) carry([...other.before, other.noun], true);
    else if (isBare && other.noun && other.before.length > 0) carry([other.noun], false);
    if (part.link === undefined) carry(other.behind, false);
  }
  return found;
}

/** Whether a label can be said of a part: it says nothing of that key itself, and some of it carry the key. */
function isSaidOf(pair: Pair, part: Part): boolean {
  return !has(pairsOf(part), pair) && (part.subject?.peers ?? []).some(({ labels }) => pair.key in labels);
}

function subjectOf(part: Part, carried: readonly Carried[], subject: Subject): Subject {
  if (carried.length === 0) return subject;
  const narrowed = labelled([...pairsOf(part), ...carried.map(({ pair }) => pair)]);
  if (narrowed.peers.length > 0) return narrowed;
  throw new Refusal(`No peer is ${quoted(narrowed.noun)}.`, ['Who is meant?']);
}

/** "Peers in prod and lyon": those that are both. */
function meeting(parts: readonly Part[]): string | undefined {
  const [first, ...others] = parts;
  if (!first?.link || others.some((one) => one.isComplete || one.link || pairsOf(one).length !== 1)) return undefined;
  const pairs = parts.flatMap(pairsOf);
  const isOne = pairs.every(({ key }, at) => pairs.findIndex((other) => other.key === key) === at);
  return isOne ? termOf(pairs) : undefined;
}

function termOf(pairs: readonly Pair[]): string {
  return pairs.map(({ key, value }) => `${key}=${value}`).join(',');
}

function wordsOf(part: Part, carried: readonly Carried[], item: readonly Token[]): string {
  const pairs = pairsOf(part);
  return part.isComplete || pairs.length === 0 ? said(item) : termOf([...pairs, ...carried.map(({ pair }) => pair)]);
}

/** "And" between single labels of different keys is asked about itself. */
function worded(terms: readonly string[]): string {
  return terms.join(terms.some((term) => term.includes(',')) ? ' and ' : ' or ');
}
