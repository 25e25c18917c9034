import type { NetworkChange } from '../../network/changes.ts';
import type { PeerEntry, Selector } from '../../network/policy.ts';
import { normalizeName, type PeerRecord } from '../../network/resources.ts';
import { selects } from '../../network/selector.ts';
import type { NetworkState } from '../../network/state.ts';
import { enumerated, quoted, Refusal } from './refusal.ts';
import { peersOf } from './selects.ts';

/** Who a phrase means: as a selector of policies, as the peers it selects today, and as a term of expectations. */
export interface Subject {
  readonly everyone: boolean;
  readonly selector: Selector;
  readonly entry: PeerEntry;
  readonly peers: readonly PeerRecord[];
  /** A peer by name, `label=value`, or `*`. */
  readonly term: string;
  /** For the names of policies. */
  readonly slug: string;
  /** What must be written first so that the selector means this peer alone. */
  readonly changes: readonly NetworkChange[];
}

/** The labels whose values a plain word may name, in the order in which they are asked. */
export const NAMING_LABELS = ['role', 'app', 'tier', 'group'] as const;

/** The label that singles out one peer; its value is the peer's name. */
const PEER_LABEL = 'peer';

const EVERYONE =
  /^(?:everyone|everybody|anyone|anybody|(?:all|every|any)(?: other)? (?:peers?|nodes?|devices?|hosts?|machines?))$/;
const ARTICLE = /^(?:(?:all(?: of)?|every|each|any|both) )?(?:the|our|my)? ?/;
const NOUN =
  /[ -](?:servers?|peers?|nodes?|hosts?|machines?|devices?|boxes|box|instances?|services?|group|tier|role|app)$/;
const PAIR =
  /^(?:(?:everyone|everybody|peers?|nodes?|devices?|hosts?|machines?|servers?) )?(?:(?:with|in|labell?ed|tagged) )*(?:(?:the )?labels? )?([^\s=:]+) ?[=:] ?([^\s=:]+)$/;
const QUALIFIED = /^(?:peers? (?:in|of) )?(peer|device|node|host|group|role|app|tier) (\S+)$/;
const PEER_WORDS: ReadonlySet<string> = new Set(['peer', 'device', 'node', 'host']);

/**
 * The subjects of a phrase such as `the web servers`, `role=web and peer api-1`. Every part must be known by name.
 *
 * @throws Refusal naming the part that is unknown or has more than one meaning.
 */
export function parseSubjects(phrase: string, state: NetworkState): Subject[] {
  const parts = phrase.split(/\s*,\s*(?:and |or )?|\s+and\s+|\s+or\s+/).filter((part) => part !== '');
  if (parts.length === 0) throw new Refusal('It is not said who is meant.');
  const subjects = parts.map((part) => parseSubject(part.trim(), state));
  const everyone = subjects.find((subject) => subject.everyone);
  if (everyone && subjects.length > 1)
    throw new Refusal(`${quoted(phrase)} names everyone and someone: say one of them.`);
  return subjects;
}

function parseSubject(phrase: string, state: NetworkState): Subject {
  const literal = /^"([^"]+)"$/.exec(phrase)?.[1];
  if (literal !== undefined) return oneOf(named(new Set([normalizeName(literal)]), [], literal, state), literal, state);
  if (EVERYONE.test(phrase)) return everyoneSubject(phrase, state);
  const text = phrase.replace(ARTICLE, '').replaceAll('"', '').trim();
  const [, key, value] = PAIR.exec(text) ?? [];
  if (key !== undefined && value !== undefined) return labelSubject(key, value, state);
  const [, kind, name] = QUALIFIED.exec(text) ?? [];
  if (kind !== undefined && name !== undefined) {
    return PEER_WORDS.has(kind) ? peerSubject(peerNamed(name, state), state) : labelSubject(kind, name, state);
  }
  return bareSubject(text, phrase, state);
}

function everyoneSubject(phrase: string, state: NetworkState): Subject {
  const namesake = peersOf(state).find(({ name }) => name.toLowerCase() === normalizeName(phrase));
  if (namesake) {
    throw new Refusal(`${quoted(phrase)} means every peer, and a peer has that name.`, [
      `Do you mean every peer ("all peers"), or the one peer ("peer ${namesake.name}")?`,
    ]);
  }
  const selector: Selector = {};
  const peers = peersOf(state);
  return {
    everyone: true,
    selector,
    entry: { peerSelector: selector },
    peers,
    term: '*',
    slug: 'everyone',
    changes: [],
  };
}

function labelSubject(key: string, value: string, state: NetworkState): Subject {
  const found = labelPairs(state).filter(
    (pair) => pair.key.toLowerCase() === key && pair.value.toLowerCase() === value,
  );
  const [first, second] = found;
  if (first && !second) return pairSubject(first, state);
  if (first && second) {
    throw new Refusal(`${quoted(`${key}=${value}`)} is written in more than one way.`, [
      `Which labels should be used: ${enumerated(found.map((pair) => `${pair.key}=${pair.value}`))}?`,
    ]);
  }
  const values = labelPairs(state).filter((pair) => pair.key.toLowerCase() === key);
  const known = values.length > 0 ? ` Known: ${enumerated(values.map((pair) => `${pair.key}=${pair.value}`))}.` : '';
  throw new Refusal(`No peer has the label ${quoted(`${key}=${value}`)}.${known}`);
}

/**
 * What a word names: a label value letter by letter, else in the other number or without "servers". A peer of that name
 * always counts beside it: devices choose their names, so a name never takes a word away from a label.
 */
function bareSubject(text: string, phrase: string, state: NetworkState): Subject {
  const stem = text.replace(NOUN, '');
  return oneOf(
    named(new Set([normalizeName(text), normalizeName(stem)]), [...formsOf(text), ...formsOf(stem)], text, state),
    phrase,
    state,
  );
}

function oneOf(candidates: readonly Subject[], phrase: string, state: NetworkState): Subject {
  const [first] = candidates;
  if (!first) throw unknown(phrase, state);
  const distinct = new Map<string, Subject>();
  for (const candidate of candidates) {
    const peers = candidate.peers.map(({ name }) => name).join(' ');
    if (!distinct.has(peers)) distinct.set(peers, candidate);
  }
  if (distinct.size === 1) return first;
  const meanings = [...distinct.values()].map(({ term, peers }) =>
    term.includes('=') ? `${term} (${peers.length} peers)` : `peer ${term}`,
  );
  throw new Refusal(`${quoted(phrase)} has more than one meaning.`, [`Which one: ${enumerated(meanings)}?`]);
}

const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  database: ['db', 'databases'],
  databases: ['db', 'database'],
  db: ['database', 'databases'],
  dbs: ['db', 'database', 'databases'],
};

function otherNumber(word: string): string[] {
  if (word.endsWith('ies')) return [`${word.slice(0, -3)}y`];
  if (/(?:s|x|ch|sh)es$/.test(word)) return [word.slice(0, -2), word.slice(0, -1)];
  if (word.endsWith('s') && !word.endsWith('ss')) return [word.slice(0, -1)];
  return [`${word}s`, ...(word.endsWith('y') ? [`${word.slice(0, -1)}ies`] : [])];
}

function formsOf(word: string): string[] {
  return [word, ...otherNumber(word)].flatMap((form) => [form, ...(SYNONYMS[form] ?? [])]).map(normalizeName);
}

function named(
  peerNames: ReadonlySet<string>,
  forms: readonly string[],
  exact: string,
  state: NetworkState,
): Subject[] {
  const naming = labelPairs(state)
    .filter(({ key }) => NAMING_LABELS.some((label) => label === key))
    .toSorted((a, b) => orderOf(a.key) - orderOf(b.key));
  const letterByLetter = naming.filter(({ value }) => value.toLowerCase() === normalizeName(exact));
  const words = new Set(forms);
  const pairs =
    letterByLetter.length > 0 ? letterByLetter : naming.filter(({ value }) => words.has(value.toLowerCase()));
  const peers = peersOf(state).filter(({ name }) => peerNames.has(name.toLowerCase()));
  return [...pairs.map((pair) => pairSubject(pair, state)), ...peers.map((peer) => peerSubject(peer, state))];
}

function orderOf(key: string): number {
  return (NAMING_LABELS as readonly string[]).indexOf(key);
}

interface Pair {
  readonly key: string;
  readonly value: string;
}

function labelPairs(state: NetworkState): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const { labels } of peersOf(state)) {
    for (const [key, value] of Object.entries(labels)) pairs.set(`${key}=${value}`, { key, value });
  }
  return [...pairs.values()];
}

function pairSubject({ key, value }: Pair, state: NetworkState): Subject {
  const selector: Selector = { matchLabels: { [key]: value } };
  const peers = peersOf(state).filter(({ labels }) => selects(selector, labels));
  const entry = { peerSelector: selector };
  return { everyone: false, selector, entry, peers, term: `${key}=${value}`, slug: value, changes: [] };
}

function peerNamed(name: string, state: NetworkState): PeerRecord {
  const found = peersOf(state).find((peer) => peer.name.toLowerCase() === name);
  if (!found) throw unknown(`peer ${name}`, state);
  return found;
}

/** Policies select by labels, so a single peer is selected by a label that carries its name, written if need be. */
function peerSubject(peer: PeerRecord, state: NetworkState): Subject {
  const { name, labels } = peer;
  const selector: Selector = { matchLabels: { [PEER_LABEL]: name } };
  const holders = peersOf(state).filter((other) => other.labels[PEER_LABEL] === name && other.uid !== peer.uid);
  const own = labels[PEER_LABEL];
  if (holders[0] || (own !== undefined && own !== name)) {
    throw new Refusal(
      `The label ${PEER_LABEL} would single out ${quoted(name)}, but ${quoted((holders[0] ?? peer).name)} uses it otherwise.`,
      [`Which label means ${quoted(name)} alone?`],
    );
  }
  const change: NetworkChange = {
    action: 'update',
    resource: 'MeshPeer',
    name,
    labels: { ...labels, [PEER_LABEL]: name },
  };
  const changes = own === name ? [] : [change];
  return {
    everyone: false,
    selector,
    entry: { peerSelector: selector },
    peers: [peer],
    term: name,
    slug: name,
    changes,
  };
}

function unknown(phrase: string, state: NetworkState): Refusal {
  const pairs = labelPairs(state).filter(({ key }) => NAMING_LABELS.some((label) => label === key));
  const labels = enumerated(pairs.map(({ key, value }) => `${key}=${value}`).sort());
  const peers = enumerated(
    peersOf(state)
      .map(({ name }) => name)
      .sort(),
  );
  return new Refusal(
    `Nothing is called ${quoted(phrase)}: no peer, and no value of the labels ${NAMING_LABELS.join(', ')}.`,
    [`Who is meant? Peers: ${peers || 'none'}. Labels: ${labels || 'none'}.`],
  );
}
