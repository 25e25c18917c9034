import type { PeerRecord } from '../../core/model/resources.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { squash, wordsOfName } from './words.ts';

/** A label that peers carry. */
export interface LabelPair {
  readonly key: string;
  readonly value: string;
  /** `key=value`. */
  readonly text: string;
  readonly peers: number;
  /** The first few of them, in the order of their names. */
  readonly examples: readonly PeerRecord[];
}

/** The names of a network's peers and labels by their letters and by their words. */
export interface NameIndex {
  readonly peers: number;
  readonly peersBySquash: ReadonlyMap<string, readonly PeerRecord[]>;
  readonly peersByWord: ReadonlyMap<string, readonly PeerRecord[]>;
  readonly pairs: ReadonlyMap<string, LabelPair>;
  readonly pairsBySquash: ReadonlyMap<string, readonly LabelPair[]>;
  readonly pairsByWord: ReadonlyMap<string, readonly LabelPair[]>;
  readonly pairsByKey: ReadonlyMap<string, readonly LabelPair[]>;
  /** Words that begin with the same two letters, of peers and of labels. */
  readonly wordsByStart: ReadonlyMap<string, readonly string[]>;
}

const MAX_EXAMPLES = 3;

/** States never change, so an index made once holds for as long as its map. */
const indexes = new WeakMap<NetworkState['peers'], NameIndex>();

export function nameIndexOf({ peers }: Pick<NetworkState, 'peers'>): NameIndex {
  const known = indexes.get(peers);
  if (known) return known;
  const index = build(peers);
  indexes.set(peers, index);
  return index;
}

type Pair = { -readonly [Field in keyof LabelPair]: LabelPair[Field] } & { examples: PeerRecord[] };

function build(records: NetworkState['peers']): NameIndex {
  const peersBySquash = new Map<string, PeerRecord[]>();
  const peersByWord = new Map<string, PeerRecord[]>();
  const pairs = new Map<string, Pair>();
  let peers = 0;
  for (const peer of records.values()) {
    if (peer.status.phase !== 'ready' && peer.status.phase !== 'pending') continue;
    peers += 1;
    add(peersBySquash, squash(peer.name), peer);
    for (const word of wordsOfName(peer.name)) add(peersByWord, word, peer);
    for (const [key, value] of Object.entries(peer.labels)) {
      const text = `${key}=${value}`;
      const pair = pairs.get(text) ?? { key, value, text, peers: 0, examples: [] };
      pairs.set(text, pair);
      pair.peers += 1;
      keepFirst(pair.examples, peer);
    }
  }
  const pairsBySquash = new Map<string, LabelPair[]>();
  const pairsByWord = new Map<string, LabelPair[]>();
  const pairsByKey = new Map<string, LabelPair[]>();
  for (const pair of pairs.values()) {
    for (const text of new Set([pair.value, pair.text].map(squash))) add(pairsBySquash, text, pair);
    for (const word of wordsOfName(pair.value)) add(pairsByWord, word, pair);
    add(pairsByKey, squash(pair.key), pair);
  }
  const wordsByStart = new Map<string, string[]>();
  for (const word of new Set([...peersByWord.keys(), ...pairsByWord.keys()])) add(wordsByStart, word.slice(0, 2), word);
  return { peers, peersBySquash, peersByWord, pairs, pairsBySquash, pairsByWord, pairsByKey, wordsByStart };
}

function keepFirst(examples: PeerRecord[], peer: PeerRecord): void {
  if (examples.length === MAX_EXAMPLES && (examples.at(-1)?.name ?? '') <= peer.name) return;
  const at = examples.findIndex(({ name }) => name > peer.name);
  examples.splice(at < 0 ? examples.length : at, 0, peer);
  if (examples.length > MAX_EXAMPLES) examples.pop();
}

function add<T>(map: Map<string, T[]>, key: string, item: T): void {
  const items = map.get(key);
  if (items) items.push(item);
  else map.set(key, [item]);
}
