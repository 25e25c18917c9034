import { nearest } from '../../core/base/nearest.ts';
import { parseAddress, parseCidr } from '../../core/model/cidr.ts';
import { normalizeName, type PeerRecord } from '../../core/model/resources.ts';
import { ARTICLES, determined, isFiller, isOne } from './determiners.ts';
import { formsOf, isNameIn, type Names, NETWORK, type Pair } from './names.ts';
import { isPlural, PEER_NOUNS } from './nouns.ts';
import { enumerated, quoted, Refusal, textOf } from './refusal.ts';
import type { Token } from './token.ts';

/** Peers or addresses that one phrase means. */
export interface Group {
  /** As an order names them; `peers` or `anyone` for everyone, by what the order does. */
  readonly word: string;
  readonly peers: ReadonlySet<PeerRecord>;
  readonly kind: 'peer' | 'labels' | 'addresses' | 'everyone';
  /** Labels, where it is these that are named. */
  readonly pairs: readonly Pair[];
  /** Words in which a label stands behind what it narrows: "web servers in prod". */
  readonly isLinked: boolean;
}

const EVERYONE_WORDS: ReadonlySet<string> = new Set(
  'everyone everybody anyone anybody everything anything anywhere everywhere all any'.split(' '),
);
const OUTSIDE: ReadonlySet<string> = new Set(['internet', 'outside', 'world', 'outside world', 'public internet']);
/** Words between who is meant and what they have in common. */
const LINKS: ReadonlySet<string> = new Set(
  'in at with labelled labeled tagged that which whose having of from are is has have'.split(' '),
);
/** Words that say nothing beside a label: "with the label role=web". */
const LABEL_WORDS: ReadonlySet<string> = new Set(['label', 'labels', 'tag', 'the', 'labelled', 'labeled', 'tagged']);

/** Returns everyone. */
export function everyone({ peers }: Names): Group {
  return { word: 'peers', peers: new Set(peers), kind: 'everyone', pairs: [], isLinked: false };
}

/**
 * Reads one phrase for peers or addresses: `web-1`, `peer web-1`, `role=web`, `the prod web servers`, `gateways at the north
 * site`, `10.0.0.0/8`, `the internet`, `all peers`.
 *
 * @throws Refusal for a name that is not there, that has several meanings, or that is one of several
 */
export function readGroup(tokens: readonly Token[], names: Names): Group {
  const words = tokens.map(({ text, sym }) => (sym === 'OF' ? 'of' : sym === 'ON' ? 'at' : text));
  const [only] = tokens;
  const phrase = textOf(tokens);
  if (only?.quoted && tokens.length === 1) return theOne(exactly(only.text, names), only.text, names);
  const { rest, article, count, isAll } = determined(words);
  const text = rest.join(' ');
  if (isPlural(text) && isNameIn(names, text))
    throw new Refusal(`${quoted(phrase)} may be everyone, or what has the name ${quoted(text)}.`, [
      `Which is meant: everyone, or ${quoted(text)}? Put the name in quotes, or say "everyone".`,
    ]);
  if (OUTSIDE.has(text)) return { word: 'outside', peers: new Set(), kind: 'addresses', pairs: [], isLinked: false };
  if (rest.length === 0 && isAll) return everyone(names);
  const address = rest.length === 1 ? addresses(text, names) : undefined;
  if (address) return address;
  const link = rest.findIndex((word, at) => at > 0 && LINKS.has(word));
  const [head, tail] = link < 0 ? [rest, []] : [rest.slice(0, link), rest.slice(link)];
  if (tail.length === 0 && head.every((word) => EVERYONE_WORDS.has(word) || isFiller(word, names)) && head.length > 0) {
    const isEveryone = isAll || head.some((word) => EVERYONE_WORDS.has(word)) || PLURALS.has(head.at(-1) ?? '');
    if (isEveryone && count === undefined && !(article && !isAll)) return everyone(names);
    throw new Refusal(`${quoted(phrase)} does not say which.`, ['Which ones? Name them, or say "all peers".']);
  }
  const isBare = head.every((word) => EVERYONE_WORDS.has(word) || isFiller(word, names));
  const base = isBare ? undefined : headGroup(head, phrase, names);
  const found = tail.length === 0 ? base : narrowed(base, tail, phrase, names);
  if (!found) throw unknown(phrase, names);
  if (isAll && found.kind === 'peer')
    throw new Refusal(`${quoted(phrase)} is said of many, and ${quoted(text)} is one peer.`, [
      `Is the peer ${quoted(text)} meant? Then leave the other words out.`,
    ]);
  const isSingle = !isAll && count === undefined && isOne(head, article, names);
  if ((count !== undefined && count !== found.peers.size) || (isSingle && found.peers.size > 1)) {
    const all = [...found.peers].map(({ name }) => name).sort();
    throw new Refusal(`${quoted(phrase)} is ${count ?? 1}, and ${found.word} are ${found.peers.size}.`, [
      `Which are meant: ${enumerated(all)}, or all of ${found.word}?`,
    ]);
  }
  return found;
}

const PLURALS: ReadonlySet<string> = new Set(PEER_NOUNS.map((noun) => `${noun}s`));

function addresses(text: string, { byAddress }: Names): Group | undefined {
  const known = byAddress.get(text);
  if (known) return onePeer(known);
  if (!parseCidr(text) && !parseAddress(text)) return undefined;
  return { word: text, peers: new Set(), kind: 'addresses', pairs: [], isLinked: false };
}

/** Names of peers that orders read as something else; such a peer is named by its id. */
const KEYWORDS: ReadonlySet<string> = new Set(['peers', 'outside', 'anyone']);

function onePeer(peer: PeerRecord): Group {
  const { name, uid } = peer;
  const isPlain = /^[\w.-]+$/.test(name) && !KEYWORDS.has(name) && !parseAddress(name);
  return { word: isPlain ? name : uid, peers: new Set([peer]), kind: 'peer', pairs: [], isLinked: false };
}

/** Returns the peers that carry all of some labels. @throws Refusal where there are none */
export function labeled(pairs: readonly Pair[], phrase: string, isLinked = false): Group {
  const distinct = [...new Set(pairs)];
  const keys = new Set(distinct.map(({ key }) => key));
  if (keys.size < distinct.length)
    throw new Refusal(`${quoted(phrase)} asks for two values of one label.`, ['Which of them?']);
  const bad = distinct.find(({ key, value }) => /[,=!]/.test(`${key}${value}`));
  if (bad)
    throw new Refusal(`The label ${quoted(`${bad.key}=${bad.value}`)} cannot be written in a sentence.`, [
      'Use orders.',
    ]);
  const [smallest] = distinct.toSorted((a, b) => a.peers.length - b.peers.length);
  const others = distinct.map(({ peers }) => new Set(peers));
  const peers = new Set((smallest?.peers ?? []).filter((peer) => others.every((set) => set.has(peer))));
  const word = distinct.map(({ key, value }) => `${key}=${value}`).join(',');
  if (peers.size === 0) throw new Refusal(`No peer is ${quoted(phrase)}: nobody carries ${word}.`, ['Who is meant?']);
  return { word, peers, kind: 'labels', pairs: distinct, isLinked };
}

/** `web`, `prod web servers`, `peer web-1`, `role web`, `role=web,env=prod`. */
function headGroup(words: readonly string[], phrase: string, names: Names): Group {
  const [first = '', second] = words;
  if (words.length === 1 && /[=]/.test(first)) return selected(first, phrase, names);
  if (words.length === 2 && second !== undefined) {
    if (PEER_NOUNS.includes(first)) {
      const peer = names.byName.get(second);
      if (peer) return onePeer(peer);
    }
    if (isNetworkWord(first) || isNetworkWord(second)) {
      const value = isNetworkWord(first) ? second : first;
      const network = names.pairs.find((pair) => pair.key === NETWORK && pair.value.toLowerCase() === value);
      if (network && !isNameIn(names, value)) return labeled([network], phrase);
    }
    if (names.pairs.some(({ key }) => key.toLowerCase() === first) && !isNameIn(names, first))
      return labeled([pairOf(first, second, names)], phrase);
  }
  const whole = exactly(words.join(' '), names);
  if (whole.length > 0) return theOne(whole, phrase, names);
  const told = words.filter((word) => !isFiller(word, names));
  if (told.length > 1) refuseBesideName(told, phrase, names);
  if (told.length === 0 || told.length > 4) throw unknown(phrase, names);
  return told.length === 1
    ? theOne(exactly(told[0] ?? '', names), phrase, names)
    : labeled(
        told.flatMap((word) => pairFor(word, names)),
        phrase,
      );
}

/** "Ci-1 temporary", "everyone during the migration": words beside a name that is whole without them. */
function refuseBesideName(words: readonly string[], phrase: string, names: Names): void {
  const isWhole = (word: string) =>
    EVERYONE_WORDS.has(word) || (names.byName.has(word) && !formsOf(word).some((form) => names.byValue.has(form)));
  if (!words.some(isWhole)) return;
  const strange = words.filter((word) => !isWhole(word) && !isNameIn(names, word));
  throw strange.length > 0
    ? new Refusal(`${quoted(strange.join(' '))} in ${quoted(phrase)} is not read.`, [
        'Is it needed? Leave it out, or say it in a sentence of its own.',
      ])
    : new Refusal(`${quoted(phrase)} joins names that mean different peers.`, [
        'Who is meant? Put "and" between the names.',
      ]);
}

function isNetworkWord(word: string): boolean {
  return word === 'network';
}

/** `in prod`, `at the north site`, `labelled role=web`, `in site north`: labels that must hold besides. */
function narrowed(base: Group | undefined, tail: readonly string[], phrase: string, names: Names): Group {
  if (base && base.kind !== 'labels') throw unknown(phrase, names);
  const said = tail.filter((word) => !LINKS.has(word) && !LABEL_WORDS.has(word) && !ARTICLES.has(word));
  const pairs: Pair[] = [];
  for (let at = 0; at < said.length; at++) {
    const [word = '', next] = [said[at], said[at + 1]];
    const isKey = next !== undefined && names.pairs.some(({ key }) => key.toLowerCase() === word);
    if (word.includes('=')) pairs.push(...selected(word, phrase, names).pairs);
    else if (isKey && !(names.byValue.has(word) && isFiller(next, names))) {
      pairs.push(pairOf(word, next, names));
      at += 1;
    } else if (at === 0 || !isFiller(word, names)) pairs.push(...pairFor(word, names));
  }
  if (pairs.length === 0) throw unknown(phrase, names);
  return labeled([...(base?.pairs ?? []), ...pairs], phrase, true);
}

/** `role=web`, `role=web,env!=prod`. */
function selected(text: string, phrase: string, names: Names): Group {
  const parts = text.split(',').map((part) => /^([^!=]+)(!?)==?([^!=]+)$/.exec(part) ?? []);
  if (parts.some(([whole]) => whole === undefined)) throw unknown(phrase, names);
  const wanted = parts.filter(([, , not]) => not === '').map(([, key = '', , value = '']) => pairOf(key, value, names));
  const barred = parts.filter(([, , not]) => not !== '').map(([, key = '', , value = '']) => pairOf(key, value, names));
  const base = wanted.length > 0 ? labeled(wanted, phrase) : everyone(names);
  if (barred.length === 0) return base;
  const gone = new Set(barred.flatMap(({ peers }) => peers));
  const words = barred.map(({ key, value }) => `${key}!=${value}`);
  return {
    ...base,
    kind: 'labels',
    word: [...(wanted.length > 0 ? [base.word] : []), ...words].join(','),
    peers: new Set([...base.peers].filter((peer) => !gone.has(peer))),
  };
}

function pairOf(key: string, value: string, names: Names): Pair {
  const found = names.pairs.filter((pair) => pair.key.toLowerCase() === key && pair.value.toLowerCase() === value);
  const [first, second] = found;
  if (first && !second) return first;
  const known = names.pairs.filter((pair) => pair.key.toLowerCase() === key).map((pair) => `${pair.key}=${pair.value}`);
  const text = quoted(`${key}=${value}`);
  throw first
    ? new Refusal(`${text} is written in more than one way.`, [`Which: ${enumerated(known)}?`])
    : new Refusal(`No peer has the label ${text}.`, [`Which label is meant? Known: ${enumerated(known) || 'none'}.`]);
}

/** Label values and the peer that words name as a whole, letter by letter, in the other number, or without "servers". */
function exactly(text: string, names: Names): Group[] {
  const stem = stemOf(text, names);
  const forms = [...new Set([text, stem].flatMap(formsOf))].map(normalizeName);
  const pairs = [...new Set(forms)].flatMap((form) => names.byValue.get(form) ?? []);
  const peers = [...new Set([text, stem].map(normalizeName))].flatMap((name) => names.byName.get(name) ?? []);
  return [...peers.map(onePeer), ...pairs.map((pair) => labeled([pair], text))];
}

/** `web servers` and `web-server` are `web`. */
function stemOf(text: string, names: Names): string {
  const at = Math.max(text.lastIndexOf(' '), text.lastIndexOf('-'));
  return at > 0 && isFiller(text.slice(at + 1), names) ? text.slice(0, at) : text;
}

function theOne(groups: readonly Group[], phrase: string, names: Names): Group {
  const [first, ...others] = groups;
  if (!first) throw unknown(phrase, names);
  if (others.every((other) => isSame(first, other))) return first;
  throw new Refusal(`${quoted(phrase)} has more than one meaning.`, [
    `Which one: ${enumerated(groups.map(({ word, kind, peers }) => (kind === 'peer' ? `peer ${word}` : `${word} (${peers.size} peers)`)))}?`,
  ]);
}

function pairFor(word: string, names: Names): Pair[] {
  const found = formsOf(word).flatMap((form) => names.byValue.get(form) ?? []);
  const [first, ...others] = found;
  if (!first) throw unknown(word, names);
  const isOne = others.every(({ peers }) => isSame({ peers: new Set(first.peers) }, { peers: new Set(peers) }));
  if (isOne) return [first];
  throw new Refusal(`${quoted(word)} has more than one meaning.`, [
    `Which one: ${enumerated(found.map(({ key, value, peers }) => `${key}=${value} (${peers.length} peers)`))}?`,
  ]);
}

function isSame(a: Pick<Group, 'peers'>, b: Pick<Group, 'peers'>): boolean {
  return a.peers.size === b.peers.size && [...a.peers].every((peer) => b.peers.has(peer));
}

/** Returns a refusal of a name that nobody has, with names that may have been meant. */
function unknown(phrase: string, { byName, byValue, pairs, peers }: Names): Refusal {
  const network = pairs.find(({ key, value }) => key === NETWORK && value.toLowerCase() === phrase.toLowerCase());
  if (network)
    return new Refusal(`${quoted(phrase)} is the name of a network, and of no peer or label.`, [
      `Is ${NETWORK}=${network.value} meant?`,
    ]);
  const near = nearest(phrase.toLowerCase(), [...byName.keys(), ...byValue.keys()]);
  const what = `Nothing is called ${quoted(phrase)}: no peer, and no value of a label.`;
  if (near.length > 0) return new Refusal(what, [`Is ${enumerated(near.map(quoted))} meant?`]);
  const labels = enumerated(pairs.map(({ key, value }) => `${key}=${value}`));
  const known = enumerated(peers.map(({ name }) => name));
  return new Refusal(what, [`Who is meant? Peers: ${known || 'none'}. Labels: ${labels || 'none'}.`]);
}
