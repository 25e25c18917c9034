import { overlaps, parseAddress, parseCidr } from '../../core/model/cidr.ts';
import { labelKeySchema, labelValueSchema } from '../../core/model/labels.ts';
import { allRulesOf } from '../../core/model/policy-match.ts';
import type { PeerRecord } from '../../core/model/resources.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { editablePolicy } from '../../core/views/policy-view.ts';
import { KNOWN_SERVICES } from '../grammar/services.ts';
import { type LabelPair, type NameIndex, nameIndexOf } from './name-index.ts';
import { rankPolicies } from './policy-ranking.ts';
import { Ranking } from './ranking.ts';
import { fitting, SUBGRAPH_LIMITS, type Subgraph, type SubgraphPeer, type SubgraphPolicy } from './subgraph.ts';
import { formsOf, isNear, type Phrases, phrasesOf, squash } from './words.ts';

export interface RetrievalQuery {
  readonly intent: string;
  /** Earlier intents of the conversation, oldest first. */
  readonly history?: readonly string[];
  readonly state: NetworkState;
}

/** How sure it is that a name is meant. */
const SCORE = { named: 100, address: 90, word: 40, form: 24, start: 12, near: 10, carried: 20, common: 1 } as const;
/** Weight of names in earlier texts of the conversation. */
const FADING = 0.5;
/** Labels that say what a peer is for are worth more to a reader than others. */
const NAMING_LABELS: ReadonlySet<string> = new Set(['role', 'app', 'tier', 'group', 'env', 'zone', 'team']);
const SPEC_BYTES = 2_500;
const SHOWN_LABELS = 8;
const LABEL_BYTES = 500;
/** Words that are looked for letter by letter among all names. */
const MAX_GUESSED = 24;
const MIN_GUESSED = 4;

/**
 * The part of the network that an intent needs: what it names or hints at, the policies that touch those, and their
 * networks. The size has an upper bound whatever the size of the network, and the same question has the same answer.
 */
export function retrieve({ intent, history = [], state }: RetrievalQuery): Subgraph {
  const texts = [intent, ...history.toReversed()];
  const index = nameIndexOf(state);
  const said = phrasesOf(texts);
  const found: Found = { peers: new Ranking<PeerRecord>(), pairs: new Ranking<LabelPair>() };
  rankNames(index, said, found);
  const ranges = rangesIn(texts);
  for (const { text, range } of ranges) {
    for (const peer of state.peers.values()) {
      const at = peer.status.address === null ? undefined : parseAddress(peer.status.address);
      if (at && overlaps(at, range)) found.peers.add(peer, text.includes('/') ? SCORE.word : SCORE.address);
    }
  }
  const meant = found.peers.top(SUBGRAPH_LIMITS.peers, nameOf);
  for (const peer of meant) {
    for (const [key, value] of Object.entries(peer.labels)) {
      const pair = index.pairs.get(`${key}=${value}`);
      if (pair && found.peers.scoreOf(peer) >= SCORE.form) found.pairs.add(pair, SCORE.carried);
    }
  }
  const pairsMeant = found.pairs.top(SUBGRAPH_LIMITS.labels, textOf);
  for (const pair of pairsMeant) for (const peer of pair.examples) found.peers.add(peer, SCORE.common);
  for (const pair of index.pairs.values()) {
    const common = NAMING_LABELS.has(pair.key) ? 2 : 1;
    found.pairs.add(pair, (SCORE.common * common * pair.peers) / (pair.peers + 1));
    for (const peer of pair.examples) found.peers.add(peer, SCORE.common / 10);
  }
  if (index.peers <= SUBGRAPH_LIMITS.peers) for (const peer of state.peers.values()) found.peers.add(peer, 0);

  const policies = fitting(
    'policies',
    rankPolicies(state, said, {
      peers: meant.filter((peer) => found.peers.scoreOf(peer) >= SCORE.form),
      pairs: new Set(pairsMeant.filter((pair) => found.pairs.scoreOf(pair) >= SCORE.form).map(textOf)),
      ranges: ranges.map(({ range }) => range),
      ports: portsIn(texts, said),
    }).map((policy): SubgraphPolicy => {
      const { name, spec } = editablePolicy(policy, state);
      const { action } = spec;
      return JSON.stringify(spec).length > SPEC_BYTES ? { name, action } : { name, action, spec };
    }),
  );
  const peers = fitting(
    'peers',
    found.peers
      .top(SUBGRAPH_LIMITS.peers * 2, nameOf)
      .filter(({ status: { phase } }) => phase === 'ready' || phase === 'pending')
      .map((peer) => peerOf(peer, index, found)),
  );
  const labels = fitting(
    'labels',
    found.pairs
      .top(SUBGRAPH_LIMITS.labels * 2, textOf)
      .map(({ text, peers: count }) => ({ label: text, peers: count })),
  );
  const networks = fitting('networks', networksOf(state, said, peers, policies));
  return {
    peers,
    labels,
    policies,
    networks,
    cidrs: cidrsOf(ranges, networks, policies),
    newLabels: newLabelsIn(texts, index),
    leftOut: {
      peers: index.peers - peers.length,
      labels: index.pairs.size - labels.length,
      policies: state.policies.size - policies.length,
      networks: state.networks.size - networks.length,
    },
  };
}

interface Found {
  readonly peers: Ranking<PeerRecord>;
  readonly pairs: Ranking<LabelPair>;
}

function rankNames(index: NameIndex, { hints, joined }: Phrases, { peers, pairs }: Found): void {
  for (const [phrase, { words, back }] of joined) {
    const score = (SCORE.named + words) * FADING ** back;
    for (const peer of index.peersBySquash.get(phrase) ?? []) peers.add(peer, score);
    for (const pair of index.pairsBySquash.get(phrase) ?? []) pairs.add(pair, score);
    for (const pair of index.pairsByKey.get(phrase) ?? [])
      pairs.add(pair, (SCORE.form * FADING ** back) / sizeOf(pair));
  }
  let guesses = 0;
  for (const [word, back] of hints) {
    let hits = rankWord(index, word, SCORE.word * FADING ** back, { peers, pairs });
    for (const form of formsOf(word)) hits += rankWord(index, form, SCORE.form * FADING ** back, { peers, pairs });
    if (hits > 0 || word.length < MIN_GUESSED || guesses >= MAX_GUESSED) continue;
    guesses += 1;
    for (const [guess, score] of guessesOf(index, word))
      rankWord(index, guess, score * FADING ** back, { peers, pairs });
  }
}

/** A word that many names have says little about each of them. */
function rankWord(index: NameIndex, word: string, score: number, { peers, pairs }: Found): number {
  const byWord = index.peersByWord.get(word) ?? [];
  for (const peer of byWord) peers.add(peer, score / sizeOf({ peers: byWord.length }));
  const labeled = index.pairsByWord.get(word) ?? [];
  for (const pair of labeled) pairs.add(pair, score / sizeOf({ peers: labeled.length }));
  for (const pair of index.pairsBySquash.get(word) ?? []) pairs.add(pair, score);
  return byWord.length + labeled.length;
}

function sizeOf({ peers }: { readonly peers: number }): number {
  return 1 + Math.log2(Math.max(1, peers));
}

/** Names that begin as the word does, or of which it is a misspelling. A slip in the first two letters is not seen. */
function* guessesOf(index: NameIndex, word: string): Generator<[string, number]> {
  for (const other of index.wordsByStart.get(word.slice(0, 2)) ?? []) {
    if (other.length >= MIN_GUESSED - 1 && (other.startsWith(word) || word.startsWith(other)))
      yield [other, SCORE.start];
    else if (other.length >= MIN_GUESSED && isNear(word, other)) yield [other, SCORE.near];
  }
}

function peerOf({ name, labels, spec, status }: PeerRecord, index: NameIndex, { pairs }: Found): SubgraphPeer {
  const all = Object.entries(labels);
  const scoreOf = ([key, value]: readonly [string, string]) => {
    const pair = index.pairs.get(`${key}=${value}`);
    return pair ? pairs.scoreOf(pair) : 0;
  };
  const ranked = all.toSorted((a, b) => scoreOf(b) - scoreOf(a) || (a[0] < b[0] ? -1 : 1)).slice(0, SHOWN_LABELS);
  const shown: [string, string][] = [];
  let bytes = 0;
  for (const [key, value] of ranked) {
    bytes += key.length + value.length;
    if (bytes <= LABEL_BYTES) shown.push([key, value]);
  }
  return {
    name,
    labels: Object.fromEntries(shown),
    ...(shown.length < all.length && { moreLabels: all.length - shown.length }),
    network: spec.network,
    ...(status.address !== null && { address: status.address }),
    ...(status.phase === 'pending' && { pending: true }),
  };
}

function networksOf(
  state: NetworkState,
  { joined }: Phrases,
  peers: readonly SubgraphPeer[],
  policies: readonly SubgraphPolicy[],
) {
  const ranking = new Ranking<string>();
  for (const { name } of state.networks.values()) ranking.add(name, joined.has(squash(name)) ? SCORE.named : 0);
  for (const { network } of peers) if (state.networks.has(network)) ranking.add(network, SCORE.common);
  for (const { spec } of policies) {
    if (spec?.network !== undefined && state.networks.has(spec.network)) ranking.add(spec.network, SCORE.common);
  }
  return ranking
    .top(SUBGRAPH_LIMITS.networks, (name) => name)
    .flatMap((name) => {
      const spec = state.networks.get(name)?.spec;
      return spec ? [{ name, cidr: spec.cidr, defaultAction: spec.defaultAction }] : [];
    });
}

const RANGE = /[0-9a-f.:]{2,45}(?:\/\d{1,3})?/gi;
const PAIR = /[A-Za-z0-9._/=-]+/g;
const MAX_RANGES = 8;

function rangesIn(texts: readonly string[]) {
  const found = new Map<string, NonNullable<ReturnType<typeof parseCidr>>>();
  for (const text of texts) {
    for (const [written] of text.matchAll(RANGE)) {
      const address = written.replace(/(?<![.:])[.:]+$/, '');
      const range = parseCidr(address) ?? parseAddress(address);
      if (range && found.size < MAX_RANGES) found.set(address, range);
    }
  }
  return [...found].map(([text, range]) => ({ text, range }));
}

function portsIn(texts: readonly string[], { hints }: Phrases): ReadonlySet<number> {
  const numbers = texts.flatMap((text) => text.match(/\b\d{1,5}\b/g) ?? []).map(Number);
  const named = [...hints.keys()].flatMap((word) =>
    Object.hasOwn(KNOWN_SERVICES, word) ? (KNOWN_SERVICES[word] ?? []).flatMap(({ port }) => port ?? []) : [],
  );
  return new Set([...numbers.filter((port) => port >= 1 && port <= 65_535), ...named]);
}

function cidrsOf(
  ranges: readonly { readonly text: string }[],
  networks: Subgraph['networks'],
  policies: readonly SubgraphPolicy[],
): string[] {
  const written = ranges.map(({ text }) => {
    if (text.includes('/')) return text;
    return text.includes(':') ? `${text}/128` : `${text}/32`;
  });
  const inPolicies = policies.flatMap(({ spec }) =>
    (spec ? allRulesOf(spec) : [])
      .flatMap(({ peers }) => peers)
      .flatMap((entry) =>
        entry === '*' || !entry.ipBlock ? [] : [entry.ipBlock.cidr, ...(entry.ipBlock.except ?? [])],
      ),
  );
  return [...new Set([...written, ...networks.map(({ cidr }) => cidr), ...inPolicies])].slice(0, SUBGRAPH_LIMITS.cidrs);
}

function newLabelsIn(texts: readonly string[], index: NameIndex): string[] {
  const written = texts
    .flatMap((text) => text.match(PAIR) ?? [])
    .filter((text) => {
      const [key, value, ...more] = text.split('=');
      const isPair = labelKeySchema.safeParse(key).success && labelValueSchema.safeParse(value).success;
      return isPair && more.length === 0 && !index.pairs.has(text);
    });
  return [...new Set(written)].slice(0, SUBGRAPH_LIMITS.newLabels);
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

function textOf({ text }: LabelPair): string {
  return text;
}
