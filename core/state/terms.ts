import { overlaps, parseAddress } from '../model/cidr.ts';
import { lookUp } from '../model/find.ts';
import { OUTSIDE, type Ranges, rangesOfTerm } from '../model/ranges.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { NetworkState } from './state.ts';

/**
 * Names of the ready peers that a term means: a peer by name or id, peers by `label=value`, or `*` for all of them.
 * Several labels apart by commas must all hold; `label!=value` holds where the label is absent too. `!name` leaves one peer
 * out.
 */
export function namesOf(term: string, { peers }: Pick<NetworkState, 'peers'>): readonly string[] {
  const { all, byLabel } = indexOf(peers);
  if (term === '*') return all;
  if (/[,!]/.test(term)) return selectedBy(term, peers);
  if (term.includes('=')) return byLabel.get(term) ?? [];
  const peer = lookUp(peers, term);
  return peer && isReady(peer) ? [peer.name] : [];
}

/** The peers and addresses at one end of a connection. */
export interface Ends {
  readonly peers: readonly string[];
  /** Addresses that may be outside of all networks; peers that have one of them are among `peers`. */
  readonly ranges: Ranges;
}

/** As {@link namesOf}, and beside: a CIDR or an address, and `outside` for every address that is no peer's. */
export function endsOf(term: string, { peers }: Pick<NetworkState, 'peers'>): Ends {
  const ranges = rangesOfTerm(term);
  if (ranges === undefined) return { peers: namesOf(term, { peers }), ranges: [] };
  if (term.startsWith(OUTSIDE)) return { peers: [], ranges };
  const within = [...peers.values()].filter((peer) => {
    const address = isReady(peer) && peer.status.address !== null ? parseAddress(peer.status.address) : undefined;
    return address !== undefined && ranges.some((range) => overlaps(range, address));
  });
  return { peers: within.map(({ name }) => name), ranges };
}

function selectedBy(term: string, peers: NetworkState['peers']): string[] {
  const holds = termTest(term, peers);
  return [...peers.values()].flatMap((peer) => (isReady(peer) && holds(peer) ? [peer.name] : []));
}

/** Returns a test for peers: true if a term of labels matches the peer. */
export function termTest(term: string, peers: NetworkState['peers']): (peer: PeerRecord) => boolean {
  const holds = term.split(',').map((part) => testOf(part, peers));
  return (peer) => holds.every((test) => test(peer));
}

function testOf(part: string, peers: NetworkState['peers']): (peer: PeerRecord) => boolean {
  if (part.startsWith('!')) {
    const left = lookUp(peers, part.slice(1))?.uid;
    return ({ uid }) => uid !== left;
  }
  const [, key = '', not, value] = /^([^!=]+)(!?)=(.*)$/.exec(part) ?? [];
  return ({ labels }) => (Object.hasOwn(labels, key) && labels[key] === value) === (not !== '!');
}

interface Index {
  readonly all: readonly string[];
  readonly byLabel: ReadonlyMap<string, readonly string[]>;
}

/** States never change, so an index made once holds for as long as its map. */
const indexes = new WeakMap<NetworkState['peers'], Index>();

function indexOf(peers: NetworkState['peers']): Index {
  const known = indexes.get(peers);
  if (known) return known;
  const all: string[] = [];
  const byLabel = new Map<string, string[]>();
  for (const peer of peers.values()) {
    if (!isReady(peer)) continue;
    all.push(peer.name);
    for (const [key, value] of Object.entries(peer.labels)) {
      const names = byLabel.get(`${key}=${value}`);
      if (names) names.push(peer.name);
      else byLabel.set(`${key}=${value}`, [peer.name]);
    }
  }
  const index = { all, byLabel };
  indexes.set(peers, index);
  return index;
}

function isReady(peer: PeerRecord): boolean {
  return peer.status.phase === 'ready';
}
