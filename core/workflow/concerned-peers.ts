import { formatInstant } from '../base/time.ts';
import { code, plain } from '../effect/markdown.ts';
import { lookUp } from '../model/find.ts';
import { gonePeers } from '../model/peer-lists.ts';
import { recentRenames } from '../model/renames.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { WorkflowRecord } from '../model/workflow-records.ts';
import type { NetworkState } from '../state/state.ts';

/** Peers named with a workflow; those that were renamed lately come first. */
export const MAX_CONCERNED_PEERS = 50;

/** A peer that a change is about, so that whoever approves it knows which device bears a name, and since when. */
export interface ConcernedPeer {
  readonly id: string;
  readonly name: string;
  readonly publicKey: string;
  /** When it registered. */
  readonly createdAt: string;
  /** Names that it had in the last 30 days, oldest first: `evil until 2026-01-05T12:00:00.000Z`. */
  readonly renames: readonly string[];
}

export interface ConcernedPeers {
  readonly peers: readonly ConcernedPeer[];
  readonly omitted: number;
}

/** Returns the peers that a workflow writes, lists or connects, as they are now. */
export function concernedPeers({ spec }: WorkflowRecord, { peers }: NetworkState, now: number): ConcernedPeers {
  const written = spec.changes.flatMap(({ resource, name }) => (resource === 'MeshPeer' ? [name] : []));
  const listed = gonePeers(spec.changes, () => false);
  const ends = [...spec.effect.opened, ...spec.effect.closed].flatMap(({ src, dst }) => [src, dst]);
  const terms = new Set([...Object.values(spec.call?.named ?? {}), ...written, ...listed, ...ends]);
  const found = new Map<string, PeerRecord>();
  for (const term of terms) {
    const peer = lookUp(peers, term);
    if (peer) found.set(peer.uid, peer);
  }
  const all = [...found.values()].map((peer): ConcernedPeer => {
    const { uid: id, name, spec: own, createdAt, status } = peer;
    const renames = recentRenames(status.renames, now).map(({ from, at }) => `${from} until ${at}`);
    return { id, name, publicKey: own.publicKey, createdAt: formatInstant(createdAt), renames };
  });
  const sorted = all.sort((a, b) => Number(b.renames.length > 0) - Number(a.renames.length > 0));
  const shown = sorted.slice(0, MAX_CONCERNED_PEERS);
  return { peers: shown, omitted: all.length - shown.length };
}

/** The same as a section of Markdown; empty where there are none. */
export function concernedPeersMarkdown({ peers, omitted }: ConcernedPeers): string {
  if (peers.length === 0) return '';
  const lines = peers.map(({ id, name, publicKey, createdAt, renames }) => {
    const names = renames.map((rename) => `; was ${plain(rename)}`);
    return `- ${code(name)} (${id}): key ${code(publicKey)}, registered ${createdAt}${names.join('')}`;
  });
  const rest = omitted > 0 ? [`- and ${omitted} more, none renamed in the last 30 days`] : [];
  return ['', 'Peers that this is about:', '', ...lines, ...rest, ''].join('\n');
}
