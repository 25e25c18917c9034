import { nearest } from '../../core/base/nearest.ts';
import { normalizeName } from '../../core/model/resources.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { formsOf, type Names, namesOf, type Pair } from './names.ts';
import { isFillerNoun, isNoun, PEER_NOUNS } from './nouns.ts';
import { isOwnWord, namesake } from './own-words.ts';
import { enumerated, quoted, Refusal } from './refusal.ts';
import { labelled, onePeer, type Subject, samePeers } from './subject.ts';

export const ARTICLES: ReadonlySet<string> = new Set(['the', 'our', 'my', 'a', 'an']);
export const EVERYONE: ReadonlySet<string> = new Set([
  'everyone',
  'everybody',
  'anyone',
  'anybody',
  'everything',
  'anything',
  'anywhere',
  'everywhere',
  'all',
  'any',
]);
/** Whether a word only links or counts others inside of a name. */
export function isFiller(word: string): boolean {
  return isNoun(word) || LINKS.has(word) || ARTICLES.has(word) || EVERYONE.has(word);
}

const QUALIFIERS: ReadonlySet<string> = new Set(PEER_NOUNS);
/** "The user alice" is who is labelled "alice". */
const PERSONS: ReadonlySet<string> = new Set(
  ['user', 'owner', 'person', 'employee', 'member', 'colleague', 'customer', 'tenant'].flatMap((noun) => [
    noun,
    `${noun}s`,
  ]),
);
/** Words between who is meant and what they have in common. */
export const LINKS: ReadonlySet<string> = new Set([
  'with',
  'in',
  'labelled',
  'labeled',
  'tagged',
  'whose',
  'where',
  'that',
  'which',
  'having',
  'of',
  'from',
  'label',
  'labels',
  'tag',
  'is',
  'are',
  'has',
  'have',
  'equal',
  'equals',
  'set',
]);

/** `web servers in prod`, `hosts labelled role=web`, `role web`, `the prod databases`: all that is said must hold. */
export function constrained(words: readonly string[], phrase: string, state: NetworkState): Subject {
  const names = namesOf(state);
  const link = words.findIndex((word, index) => LINKS.has(word) && index > 0);
  const own = LINKS.has(words[0] ?? '') ? 0 : link;
  if (own < 0) return headSubject(words, phrase, names);
  const head = words.slice(0, own);
  const pairs = constraintsOf(words.slice(own), phrase, names);
  const unnamed = head.every((word) => isFillerNoun(word, names) || EVERYONE.has(word) || ARTICLES.has(word));
  if (unnamed) return meeting(pairs, phrase);
  const subject = headSubject(head, phrase, names);
  const headPairs = pairsOf(subject, names);
  if (!headPairs) throw unclearText(phrase);
  return meeting([...headPairs, ...pairs], phrase);
}

function pairsOf({ selector }: Subject, { pairs }: Names): Pair[] | undefined {
  const wanted = Object.entries(selector?.matchLabels ?? {});
  const found = pairs.filter(({ key, value }) => wanted.some(([k, v]) => k === key && v === value));
  return found.length === wanted.length && found.length > 0 ? found : undefined;
}

/** `in the prod environment`, `labelled role=web,env=prod`, `with label role web`, `whose env is prod`. */
function constraintsOf(words: readonly string[], phrase: string, names: Names): Pair[] {
  const said = words.filter((word) => !LINKS.has(word) && !ARTICLES.has(word) && word !== 'to');
  const pairs: Pair[] = [];
  for (let at = 0; at < said.length; at++) {
    const [word = '', next] = [said[at], said[at + 1]];
    if (/[=:]/.test(word)) pairs.push(...equalities(word, names));
    else if (next !== undefined && names.pairs.some(({ key }) => key.toLowerCase() === word)) {
      pairs.push(pairFor(word, next, names));
      at++;
    } else if (isFillerNoun(word, names) && at > 0) continue;
    else pairs.push(wordPair(word, phrase, names));
  }
  if (pairs.length === 0) throw unclearText(phrase);
  return pairs;
}

/** `role=web`, `role:web`, `role=web,env=prod`. */
function equalities(text: string, names: Names): Pair[] {
  return text.split(',').map((part) => {
    const [, key = '', value = ''] = /^([^=:]+)[=:]=?([^=:]+)$/.exec(part) ?? [];
    if (key === '') throw unclearText(text);
    return pairFor(key, value, names);
  });
}

function pairFor(key: string, value: string, names: Names): Pair {
  const { pairs, byValue } = names;
  const found = pairs.filter((pair) => pair.key.toLowerCase() === key && pair.value.toLowerCase() === value);
  const [first, second] = found;
  if (first && !second) return first;
  if (first) {
    throw new Refusal(`${quoted(`${key}=${value}`)} is written in more than one way.`, [
      `Which labels should be used: ${enumerated(found.map((pair) => `${pair.key}=${pair.value}`))}?`,
    ]);
  }
  const known = pairs.filter((pair) => pair.key.toLowerCase() === key).map((pair) => `${pair.key}=${pair.value}`);
  const same = (byValue.get(value) ?? []).map((pair) => `${pair.key}=${pair.value}`);
  const near = [...new Set([...same, ...nearest(`${key}=${value}`, known), ...namedAfter(value, names)])];
  throw new Refusal(
    `No peer has the label ${quoted(`${key}=${value}`)}.${known.length > 0 ? ` Known: ${enumerated(known)}.` : ''}`,
    near.length > 0 ? [`Did you mean ${enumerated(near.map(quoted))}?`] : ['Which label, or which peers, are meant?'],
    { by: near },
  );
}

function meeting(pairs: readonly Pair[], phrase: string): Subject {
  const distinct = [...new Set(pairs)];
  const twice = distinct.find(({ key }, index) => distinct.findIndex((other) => other.key === key) !== index);
  if (twice) throw new Refusal(`${quoted(phrase)} asks for two values of the label ${twice.key}.`, ['Which of them?']);
  const subject = labelled(distinct);
  if (subject.peers.length === 0)
    throw new Refusal(`No peer is ${quoted(phrase)}: no one carries ${subject.noun}.`, ['Who is meant?']);
  return subject;
}

function headSubject(words: readonly string[], phrase: string, names: Names): Subject {
  const [first = '', second] = words;
  if (words.length === 1 && /[=:]/.test(first) && !first.startsWith(':'))
    return meeting(equalities(first, names), phrase);
  if (words.length === 2 && second !== undefined) {
    if (QUALIFIERS.has(first)) return qualified(first, second, phrase, names);
    if (names.pairs.some(({ key }) => key.toLowerCase() === first))
      return meeting([pairFor(first, second, names)], phrase);
    if (PERSONS.has(first)) return meeting([wordPair(second, phrase, names)], phrase);
  }
  const exact = candidatesOf(words, names);
  if (exact.length > 0) {
    // Labels are given by people, names by whoever joins.
    const isNamed = exact.some(({ noun }) => !noun.includes('='));
    if (isNamed && words.every((word) => isOwnWord(word) || isFiller(word)))
      throw namesake(phrase, exact, isNoun(words.at(-1) ?? '') ? ['everyone'] : []);
    return theOne(exact, phrase);
  }
  const told = words.filter((word) => !isFillerNoun(word, names));
  if (told.length === 0) throw whichOne(phrase, names);
  if (told.length === 1 || told.length > 4) throw unknown(phrase, names);
  return meeting(
    told.map((word) => wordPair(word, phrase, names)),
    phrase,
  );
}

/**
 * What words name as a whole: label values letter by letter, in the other number, by a synonym or without "servers", and
 * the peer of that name. All of them count: names and labels are chosen by many, and none takes a word away from another.
 */
function candidatesOf(words: readonly string[], names: Names): Subject[] {
  const text = words.join(' ');
  const stem = stemOf(text, names);
  const whole = [text, stem].map(normalizeName);
  const forms = [text, stem].flatMap(formsOf).map(normalizeName);
  const pairs = [...new Set(forms)].flatMap((form) => names.byValue.get(form) ?? []);
  const peers = [...new Set(whole)].flatMap((name) => names.byName.get(name) ?? []);
  return [...pairs.map((pair) => labelled([pair])), ...peers.map((peer) => onePeer(peer))];
}

/** `web servers` and `web-server` are `web`. */
function stemOf(text: string, names: Names): string {
  const at = Math.max(text.lastIndexOf(' '), text.lastIndexOf('-'));
  return at > 0 && isFillerNoun(text.slice(at + 1), names) ? text.slice(0, at) : text;
}

function theOne(candidates: readonly Subject[], phrase: string): Subject {
  const [first, ...others] = candidates;
  if (!first) throw unclearText(phrase);
  if (others.every((other) => samePeers(first, other))) {
    // A name that is a label value too means the peer: who gets that label later inherits nothing.
    const isNamed = ({ selector, noun }: Subject) =>
      selector?.peers && (phrase === noun || phrase.endsWith(` ${noun}`));
    return candidates.find(isNamed) ?? first;
  }
  const distinct = candidates.filter((one, index) => candidates.findIndex((other) => samePeers(one, other)) === index);
  const meanings = distinct.map(({ noun, peers }) =>
    noun.includes('=') ? `${noun} (${peers.length} peers)` : `peer ${noun}`,
  );
  throw new Refusal(`${quoted(phrase)} has more than one meaning.`, [`Which one: ${enumerated(meanings)}?`], {
    by: distinct.map(({ noun, terms }) => (noun.includes('=') ? noun : `peer ${terms[0]}`)),
  });
}

/** The one label that a word means. */
function wordPair(word: string, phrase: string, names: Names): Pair {
  const found = formsOf(word).flatMap((form) => names.byValue.get(form) ?? []);
  const [first, ...others] = found;
  if (!first) throw unknown(phrase, names, word);
  if (others.every((other) => samePeers(labelled([first]), labelled([other])))) return first;
  throw new Refusal(`${quoted(word)} has more than one meaning.`, [
    `Which one: ${enumerated(found.map(({ key, value, peers }) => `${key}=${value} (${peers.length} peers)`))}?`,
  ]);
}

/** A name letter by letter. */
export function quotedSubject(text: string, state: NetworkState): Subject {
  const names = namesOf(state);
  const peer = names.byName.get(normalizeName(text));
  const pairs = names.byValue.get(normalizeName(text)) ?? [];
  const candidates = [...pairs.map((pair) => labelled([pair])), ...(peer ? [onePeer(peer)] : [])];
  if (candidates.length === 0) throw unknown(text, names);
  return theOne(candidates, text);
}

/** `peer web-1`; where some are labelled with that noun, the peer must be one of them. */
function qualified(noun: string, name: string, phrase: string, names: Names): Subject {
  const one = peerNamed(name, names);
  const pairs = isFillerNoun(noun, names) ? [] : formsOf(noun).flatMap((form) => names.byValue.get(form) ?? []);
  if (pairs.length === 0 || pairs.some(({ peers }) => one.peers.every((peer) => peers.includes(peer)))) return one;
  throw unclearText(phrase);
}

function peerNamed(name: string, names: Names): Subject {
  const peer = names.byName.get(name);
  if (!peer) throw unknown(`peer ${name}`, names, name);
  return onePeer(peer);
}

function whichOne(phrase: string, names: Names): Refusal {
  const shown = enumerated(
    names.peers
      .map(({ name }) => name)
      .slice(0, 50)
      .sort(),
  );
  return new Refusal(`${quoted(phrase)} does not say which.`, [
    `Which one? Peers: ${shown || 'none'}. Or say "all peers".`,
  ]);
}

function unknown(phrase: string, names: Names, word = stemOf(phrase, names)): Refusal {
  const after = namedAfter(word, names);
  const near = after.length > 0 ? after : nearest(word, [...names.byName.keys(), ...names.byValue.keys()]);
  if (near.length > 0) {
    return new Refusal(
      `Nothing is called ${quoted(phrase)}: no peer, and no value of a label.`,
      [`Did you mean ${enumerated(near.map((name) => quoted(name)))}?`],
      { by: near.map((name) => phrase.replace(word, name)) },
    );
  }
  const peers = enumerated(
    names.peers
      .map(({ name }) => name)
      .slice(0, 50)
      .sort(),
  );
  const labels = enumerated(names.pairs.map(({ key, value }) => `${key}=${value}`));
  return new Refusal(`Nothing is called ${quoted(phrase)}: no peer, and no value of a label.`, [
    `Who is meant? Peers: ${peers || 'none'}. Labels: ${labels || 'none'}.`,
  ]);
}

/** More would not be looked at one by one. */
const MAX_NAMED_AFTER = 3;

/** Peers of which a word is a part of the name, "carla" of "carla-laptop": all of them, and each. */
function namedAfter(word: string, { byName }: Names): string[] {
  const named = [...byName.values()].filter(({ name }) => name.toLowerCase().split(/[-._]/).includes(word));
  if (named.length > MAX_NAMED_AFTER) return [];
  const each = named.map(({ name }) => name).sort();
  return each.length > 1 ? [each.join(' and '), ...each] : each;
}

export function unclearText(text: string): Refusal {
  return new Refusal(`${quoted(text)} does not say clearly who is meant.`, [
    'Who is meant? Name peers, or a label such as role=web.',
  ]);
}
