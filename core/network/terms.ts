import { lookUp } from './find.ts';
import type { PeerRecord } from './resources.ts';
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

function selectedBy(term: string, peers: NetworkState['peers']): string[] {
  const holds = term.split(',').map((part) => testOf(part, peers));
  return [...peers.values()].flatMap((peer) => (isReady(peer) && holds.every((test) => test(peer)) ? [peer.name] : []));
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
