import { containsRange, parseAddress, parseCidr } from '../../network/cidr.ts';
import { normalizeName } from '../../network/resources.ts';
import type { NetworkState } from '../../network/state.ts';
import type { Sym, Token } from './lexicon.ts';
import { formsOf, type Names, namesOf, nearest, type Pair } from './names.ts';
import { enumerated, quoted, Refusal } from './refusal.ts';
import { addresses, everyone, labelled, onePeer, outside, type Subject, samePeers, without } from './subject.ts';

const MAX_SUBJECTS = 30;
const NOBODY_NAMED = 'It is not said who is meant.';
const ALL: ReadonlySet<string> = new Set(['all', 'every', 'each', 'any', 'both']);
const ARTICLES: ReadonlySet<string> = new Set(['the', 'our', 'my', 'a', 'an', 'other']);
const EVERYONE: ReadonlySet<string> = new Set([
  'everyone',
  'everybody',
  'anyone',
  'anybody',
  'everything',
  'anything',
  'all',
  'any',
]);
const WHOLE: ReadonlySet<string> = new Set(['entire', 'whole', 'complete']);
const PEER_NOUNS = ['peer', 'node', 'device', 'host', 'machine', 'computer'];
const NOUNS: ReadonlySet<string> = new Set(
  [
    ...PEER_NOUNS,
    'server',
    'box',
    'instance',
    'service',
    'group',
    'tier',
    'role',
    'app',
    'application',
    'system',
    'one',
    'thing',
    'environment',
    'cluster',
    'fleet',
    'team',
    'zone',
    'site',
    'workload',
  ].flatMap((noun) => [noun, noun === 'box' ? 'boxes' : `${noun}s`]),
);
const QUALIFIERS: ReadonlySet<string> = new Set(PEER_NOUNS);
const OUTSIDE: ReadonlySet<string> = new Set([
  'internet',
  'outside',
  'outside world',
  'public internet',
  'external addresses',
  'outsiders',
]);
const LINKS: ReadonlySet<string> = new Set([
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

/**
 * The subjects of a phrase such as `the web servers, role=db and peer api-1` or `everyone except ci`. Every word must be
 * understood.
 *
 * @throws Refusal naming what is unknown or has more than one meaning.
 */
export function parseSubjects(tokens: readonly Token[], state: NetworkState): Subject[] {
  const [base = [], ...exceptions] = split(tokens, ['EXCEPT']);
  if (exceptions.length > 1) throw unclear(tokens);
  const subjects = itemsOf(base, state);
  const [exception] = exceptions;
  return exception === undefined ? subjects : exclude(subjects, itemsOf(exception, state), state);
}

/** Takes some out of whichever subjects they belong to. */
export function exclude(subjects: readonly Subject[], excepted: readonly Subject[], state: NetworkState): Subject[] {
  const isIn = (one: Subject, group: Subject) =>
    one.peers.length > 0 && one.peers.every((peer) => group.peers.includes(peer));
  const stray = excepted.find((one) => !subjects.some((group) => isIn(one, group)));
  if (stray) {
    throw new Refusal(`${quoted(stray.noun)} is no part of ${enumerated(subjects.map(({ noun }) => quoted(noun)))}.`, [
      `What should hold for ${quoted(stray.noun)}?`,
    ]);
  }
  return subjects.flatMap((group) => {
    const mine = excepted.filter((one) => isIn(one, group));
    if (mine.length === 0) return [group];
    const left = without(group, mine, state);
    if (left.peers.length === 0) throw new Refusal(`Nobody is left of ${quoted(left.noun)}.`, ['Who is meant?']);
    return [left];
  });
}

function itemsOf(tokens: readonly Token[], state: NetworkState): Subject[] {
  const items = split(tokens, ['AND', 'OR', 'COMMA']).filter((item) => item.length > 0);
  if (items.length === 0) throw new Refusal(NOBODY_NAMED, ['Who is meant?']);
  if (items.length > MAX_SUBJECTS)
    throw new Refusal(`More than ${MAX_SUBJECTS} are named at once: use a label, or fewer steps.`);
  const subjects = items.map((item) => parseItem(item, state));
  const all = subjects.find((subject) => subject.everyone);
  if (all && subjects.length > 1)
    throw new Refusal(`${quoted(textOf(tokens))} names everyone and someone: say one of them.`, ['Who is meant?']);
  return subjects.filter((subject, index) => subjects.findIndex(({ noun }) => noun === subject.noun) === index);
}

function split(tokens: readonly Token[], at: readonly Sym[]): Token[][] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (token.sym && at.includes(token.sym)) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

function parseItem(tokens: readonly Token[], state: NetworkState): Subject {
  refuseVague(tokens);
  const [only] = tokens;
  if (only?.quoted && tokens.length === 1) return quotedSubject(only.text, state);
  const words = tokens.map(({ text }) => text);
  const all = ALL.has(words[0] ?? '') && words.length > 1;
  const said = words.slice(all ? 1 : 0).filter((word, index) => !(word === 'of' && all && index === 0));
  while (said.length > 1 && ARTICLES.has(said[0] ?? '')) said.shift();
  if (isEveryone(said, all)) return everyoneSubject(textOf(tokens), state);
  const text = said.join(' ');
  if (OUTSIDE.has(text)) return outside(state);
  const count = words[0] === 'both' ? 2 : said.length > 1 ? countOf(said[0] ?? '') : undefined;
  const named = count === undefined || words[0] === 'both' ? said : said.slice(1);
  const subject = addressSubject(text, state) ?? constrained(named, textOf(tokens), state);
  if (count === undefined || subject.peers.length === count) return subject;
  throw new Refusal(`${quoted(textOf(tokens))} are ${subject.peers.length}, not ${count}.`, [
    `Which ones: ${enumerated(subject.peers.map(({ name }) => name).sort())}?`,
  ]);
}

const COUNTS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** `two` of "the two databases", `3` of "all 3 web servers". */
function countOf(word: string): number | undefined {
  if (/^\d{1,4}$/.test(word)) return Number(word);
  const place = COUNTS.indexOf(word);
  return place < 0 ? undefined : place + 1;
}

function refuseVague(tokens: readonly Token[]): void {
  const vague = tokens.find(({ sym }) => sym !== undefined && sym !== 'OF');
  if (!vague) return;
  const text = quoted(textOf(tokens));
  if (vague.sym === 'SOME') throw new Refusal(`${text} does not say which.`, ['Which ones? Name them, or say "all".']);
  if (vague.sym === 'CONDITION')
    throw new Refusal(`${text} sets a condition, and a policy knows none.`, ['What should hold now?']);
  throw new Refusal(`It is not clear who is meant by ${quoted(vague.text)}.`, [`Who is ${quoted(vague.text)}?`]);
}

/** `everyone`, `all peers`, `every other device`, `the entire network`. */
function isEveryone(words: readonly string[], all: boolean): boolean {
  const rest = words.filter((word) => word !== 'other' && word !== 'else');
  const [first = '', second = ''] = rest;
  if (rest.length === 1 && EVERYONE.has(first)) return true;
  if (rest.length === 2 && WHOLE.has(first) && (second === 'network' || second === 'mesh')) return true;
  const noun = first.replace(/s$/, '');
  return (
    all &&
    rest.length === 1 &&
    (PEER_NOUNS.includes(noun) || first === 'network' || first === 'mesh' || first === 'others')
  );
}

function everyoneSubject(phrase: string, state: NetworkState): Subject {
  const namesake = namesOf(state).byName.get(normalizeName(phrase));
  if (!namesake) return everyone(state);
  throw new Refusal(`${quoted(phrase)} means every peer, and a peer has that name.`, [
    `Do you mean every peer ("all peers"), or the one peer ("peer ${namesake.name}")?`,
  ]);
}

function addressSubject(text: string, state: NetworkState): Subject | undefined {
  const bare = text.replace(/^(?:address|ip|subnet|range|cidr|network) /, '');
  const address = parseAddress(bare);
  if (address) {
    const holder = namesOf(state).byAddress.get(bare);
    return holder
      ? onePeer(holder, state)
      : addresses(`${bare}/${address.family === 4 ? 32 : 128}`, state, () => false);
  }
  const range = parseCidr(bare);
  if (!range) return undefined;
  return addresses(bare, state, (one) => {
    const own = parseAddress(one);
    return own !== undefined && containsRange(range, own);
  });
}

/** `web servers in prod`, `hosts labelled role=web`, `role web`, `the prod databases`: all that is said must hold. */
function constrained(words: readonly string[], phrase: string, state: NetworkState): Subject {
  const names = namesOf(state);
  const link = words.findIndex((word, index) => LINKS.has(word) && index > 0);
  const own = LINKS.has(words[0] ?? '') ? 0 : link;
  if (own < 0) return headSubject(words, phrase, state, names);
  const head = words.slice(0, own);
  const pairs = constraintsOf(words.slice(own), phrase, names);
  const isNoun = head.every((word) => NOUNS.has(word) || EVERYONE.has(word) || ARTICLES.has(word));
  if (isNoun) return meeting(pairs, phrase);
  const subject = headSubject(head, phrase, state, names);
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
    } else if (NOUNS.has(word) && at > 0) continue;
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

function pairFor(key: string, value: string, { pairs }: Names): Pair {
  const found = pairs.filter((pair) => pair.key.toLowerCase() === key && pair.value.toLowerCase() === value);
  const [first, second] = found;
  if (first && !second) return first;
  if (first) {
    throw new Refusal(`${quoted(`${key}=${value}`)} is written in more than one way.`, [
      `Which labels should be used: ${enumerated(found.map((pair) => `${pair.key}=${pair.value}`))}?`,
    ]);
  }
  const known = pairs.filter((pair) => pair.key.toLowerCase() === key).map((pair) => `${pair.key}=${pair.value}`);
  throw new Refusal(
    `No peer has the label ${quoted(`${key}=${value}`)}.${known.length > 0 ? ` Known: ${enumerated(known)}.` : ''}`,
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

function headSubject(words: readonly string[], phrase: string, state: NetworkState, names: Names): Subject {
  const [first = '', second] = words;
  if (words.length === 1 && /[=:]/.test(first) && !first.startsWith(':'))
    return meeting(equalities(first, names), phrase);
  if (words.length === 2 && second !== undefined) {
    if (QUALIFIERS.has(first)) return peerNamed(second, state, names);
    if (names.pairs.some(({ key }) => key.toLowerCase() === first))
      return meeting([pairFor(first, second, names)], phrase);
  }
  const exact = candidatesOf(words, state, names);
  if (exact.length > 0) return theOne(exact, phrase);
  const told = words.filter((word) => !NOUNS.has(word));
  if (told.length === 0) throw whichOne(phrase, names);
  if (told.length === 1 || told.length > 4) throw unknown(phrase, names);
  return meeting(
    told.map((word) => wordPair(word, phrase, names)),
    phrase,
  );
}

/**
 * What words name as a whole: a label value letter by letter, else in the other number or without "servers". A peer of
 * that name always counts beside it: devices choose their names, so a name never takes a word away from a label.
 */
function candidatesOf(words: readonly string[], state: NetworkState, names: Names): Subject[] {
  const text = words.join(' ');
  const stem = stemOf(text);
  const whole = [text, stem].map(normalizeName);
  const exactly = names.byValue.get(normalizeName(text));
  const forms = [text, stem].flatMap(formsOf).map(normalizeName);
  const pairs = exactly ?? [...new Set(forms)].flatMap((form) => names.byValue.get(form) ?? []);
  const peers = [...new Set(whole)].flatMap((name) => names.byName.get(name) ?? []);
  return [...pairs.map((pair) => labelled([pair])), ...peers.map((peer) => onePeer(peer, state))];
}

/** `web servers` and `web-server` are `web`. */
function stemOf(text: string): string {
  const at = Math.max(text.lastIndexOf(' '), text.lastIndexOf('-'));
  return at > 0 && NOUNS.has(text.slice(at + 1)) ? text.slice(0, at) : text;
}

function theOne(candidates: readonly Subject[], phrase: string): Subject {
  const [first, ...others] = candidates;
  if (!first) throw unclearText(phrase);
  if (others.every((other) => samePeers(first, other))) return first;
  const distinct = candidates.filter((one, index) => candidates.findIndex((other) => samePeers(one, other)) === index);
  const meanings = distinct.map(({ noun, peers, marks, terms }) =>
    noun.includes('=') ? `${noun} (${peers.length} peers)` : `peer ${marks.length >= 0 ? terms[0] : noun}`,
  );
  throw new Refusal(`${quoted(phrase)} has more than one meaning.`, [`Which one: ${enumerated(meanings)}?`]);
}

/** The one label that a word means. */
function wordPair(word: string, phrase: string, names: Names): Pair {
  const exactly = names.byValue.get(word);
  const found = exactly ?? formsOf(word).flatMap((form) => names.byValue.get(form) ?? []);
  const [first, ...others] = found;
  if (!first) throw unknown(phrase, names, word);
  if (others.every((other) => samePeers(labelled([first]), labelled([other])))) return first;
  throw new Refusal(`${quoted(word)} has more than one meaning.`, [
    `Which one: ${enumerated(found.map(({ key, value, peers }) => `${key}=${value} (${peers.length} peers)`))}?`,
  ]);
}

function quotedSubject(text: string, state: NetworkState): Subject {
  const names = namesOf(state);
  const peer = names.byName.get(normalizeName(text));
  const pairs = names.byValue.get(normalizeName(text)) ?? [];
  const candidates = [...pairs.map((pair) => labelled([pair])), ...(peer ? [onePeer(peer, state)] : [])];
  if (candidates.length === 0) throw unknown(text, names);
  return theOne(candidates, text);
}

function peerNamed(name: string, state: NetworkState, names: Names): Subject {
  const peer = names.byName.get(name);
  if (!peer) throw unknown(`peer ${name}`, names, name);
  return onePeer(peer, state);
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

function unknown(phrase: string, names: Names, word = stemOf(phrase)): Refusal {
  const near = nearest(word, [...names.byName.keys(), ...names.byValue.keys()]);
  if (near.length > 0) {
    return new Refusal(`Nothing is called ${quoted(phrase)}: no peer, and no value of a label.`, [
      `Did you mean ${enumerated(near.map((name) => quoted(name)))}?`,
    ]);
  }
  const peers = enumerated(
    names.peers
      .map(({ name }) => name)
      .slice(0, 50)
      .sort(),
  );
  const labels = enumerated(names.pairs.filter(({ key }) => key !== 'peer').map(({ key, value }) => `${key}=${value}`));
  return new Refusal(`Nothing is called ${quoted(phrase)}: no peer, and no value of a label.`, [
    `Who is meant? Peers: ${peers || 'none'}. Labels: ${labels || 'none'}.`,
  ]);
}

function unclear(tokens: readonly Token[]): Refusal {
  return unclearText(textOf(tokens));
}

function unclearText(text: string): Refusal {
  return new Refusal(`${quoted(text)} does not say clearly who is meant.`, [
    'Who is meant? Name peers, or a label such as role=web.',
  ]);
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join(' ');
}
