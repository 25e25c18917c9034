import { RESERVED_LABEL_PREFIX } from '../../core/model/presets.ts';
import type { PeerRecord } from '../../core/model/resources.ts';
import type { NetworkState } from '../../core/state/state.ts';

/** A label that some peers carry. */
export interface Pair {
  readonly key: string;
  readonly value: string;
  readonly peers: PeerRecord[];
}

/** Names of a network that words may mean, found without walking its peers again. */
export interface Names {
  readonly peers: readonly PeerRecord[];
  /** By the name in lower case. */
  readonly byName: ReadonlyMap<string, PeerRecord>;
  readonly pairs: readonly Pair[];
  /** By the value in lower case. */
  readonly byValue: ReadonlyMap<string, readonly Pair[]>;
  readonly byAddress: ReadonlyMap<string, PeerRecord>;
}

/** In orders, `network=lab` means a network, whatever labels there are. */
export const NETWORK = 'network';

/** The labels that are tried first where several with the same value mean the same peers. */
const PREFERRED: readonly string[] = ['role', 'app', 'tier', 'group'];

const PHASES: ReadonlySet<string> = new Set(['ready', 'pending']);

const KNOWN = new WeakMap<NetworkState, Names>();

/** Returns the names of a state, read once. */
export function namesOf(state: NetworkState): Names {
  const known = KNOWN.get(state);
  if (known) return known;
  const peers = [...state.peers.values()].filter(({ status }) => PHASES.has(status.phase));
  const pairs = new Map<string, Pair>();
  for (const peer of peers) {
    for (const [key, value] of Object.entries(peer.labels)) {
      const pair = pairs.get(`${key}=${value}`);
      if (pair) pair.peers.push(peer);
      else pairs.set(`${key}=${value}`, { key, value, peers: [peer] });
    }
  }
  for (const { name } of state.networks.values()) {
    const inside = peers.filter(({ spec }) => spec.network === name);
    pairs.set(`${NETWORK}=${name}`, { key: NETWORK, value: name, peers: inside });
  }
  const all = [...pairs.values()].sort((a, b) => rank(a.key) - rank(b.key) || (a.key < b.key ? -1 : 1));
  const byValue = new Map<string, Pair[]>();
  for (const pair of all) {
    if (pair.key === NETWORK || pair.key.startsWith(RESERVED_LABEL_PREFIX)) continue;
    const value = pair.value.toLowerCase();
    const same = byValue.get(value);
    if (same) same.push(pair);
    else byValue.set(value, [pair]);
  }
  const names: Names = {
    peers,
    byName: new Map(peers.map((peer) => [peer.name.toLowerCase(), peer])),
    pairs: all,
    byValue,
    byAddress: new Map(peers.flatMap((peer) => (peer.status.address === null ? [] : [[peer.status.address, peer]]))),
  };
  KNOWN.set(state, names);
  return names;
}

function rank(key: string): number {
  const place = PREFERRED.indexOf(key);
  return place < 0 ? PREFERRED.length : place;
}

const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    database: ['db', 'databases'],
    databases: ['db', 'database'],
    db: ['database', 'databases'],
    dbs: ['db', 'database', 'databases'],
    production: ['prod'],
    prod: ['production'],
    development: ['dev'],
    dev: ['development', 'developer', 'developers'],
    developer: ['dev'],
    developers: ['dev'],
    engineer: ['eng'],
    engineers: ['eng'],
    engineering: ['eng'],
    operations: ['ops'],
    operators: ['ops'],
    gateway: ['gw'],
    gateways: ['gw'],
    gw: ['gateway', 'gateways'],
  }),
);

/** Returns the forms in which a label value may stand for a word: singular, plural, short and long. */
export function formsOf(word: string): string[] {
  return [...new Set([word, ...otherNumber(word)].flatMap((form) => [form, ...(SYNONYMS.get(form) ?? [])]))];
}

function otherNumber(word: string): string[] {
  if (word.endsWith('ies')) return [`${word.slice(0, -3)}y`];
  if (/(?:s|x|ch|sh)es$/.test(word)) return [word.slice(0, -2), word.slice(0, -1)];
  if (word.endsWith('s') && !word.endsWith('ss')) return [word.slice(0, -1)];
  return [`${word}s`, ...(word.endsWith('y') ? [`${word.slice(0, -1)}ies`] : [])];
}

/** Returns true for a word that alone names a peer or a label value. */
export function isNameIn({ byName, byValue }: Names, word: string): boolean {
  return byName.has(word) || formsOf(word).some((form) => byValue.has(form));
}

/** Labels that say where a peer stands. */
const PLACES: ReadonlySet<string> = new Set([
  ...['site', 'zone', 'region', 'location', 'place', 'room', 'floor', 'building', 'rack', 'dc', 'datacenter', 'plant'],
]);

/** Returns true for a word that is the value of such a label. */
export function isPlaceIn({ byValue }: Names, word: string): boolean {
  return (byValue.get(word) ?? []).some(({ key }) => PLACES.has(key.toLowerCase()));
}
