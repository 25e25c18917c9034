import { getOrInsertComputed } from '../base/get-or-insert.ts';
import { memoize } from '../base/memoize.ts';
import type { PathReport, PathsOfNodes, ReportedPaths } from '../model/reported-paths.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { PeerGroup } from '../state/label-groups.ts';
import type { NetworkState } from '../state/state.ts';

/** Between the peers of two groups, in either direction; `a` is never after `b`. */
export interface PathCount {
  /** Place of the group. */
  readonly a: number;
  readonly b: number;
  readonly direct: number;
  /** Pairs of which one end at least says so. */
  readonly relayed: number;
  /** Pairs that tried, and have no path. */
  readonly failed: number;
}

/** The worse the later. */
const OUTCOMES = ['direct', 'relayed', 'failed'] as const;
type Outcome = (typeof OUTCOMES)[number];
const WORSE: Readonly<Record<Outcome, number>> = { direct: 0, relayed: 1, failed: 2 };

/** Pairs of peers by how their nodes said last that they reach each other. No peer is in two groups. */
export function pathCounts(
  { workspace, peers }: Pick<NetworkState, 'workspace' | 'peers'>,
  groups: readonly PeerGroup[],
  paths: Pick<ReportedPaths, 'all'>,
): PathCount[] {
  const { places, pairs } = pairsOf(paths.all(workspace));
  const groupAt = new Int32Array(places.size).fill(-1);
  for (const [group, { peers: names }] of groups.entries()) {
    for (const name of names) {
      const place = places.get(peers.get(name)?.uid ?? '');
      if (place !== undefined) groupAt[place] = group;
    }
  }
  // Groups are some hundred at most; a table of all pairs of them is filled faster than a map.
  const counts = new Uint32Array(groups.length ** 2 * OUTCOMES.length);
  for (const { one, other, outcome } of pairs) {
    const [g, h] = [groupAt[one] ?? -1, groupAt[other] ?? -1];
    if (g < 0 || h < 0) continue;
    const cell = (Math.min(g, h) * groups.length + Math.max(g, h)) * OUTCOMES.length + WORSE[outcome];
    counts[cell] = (counts[cell] ?? 0) + 1;
  }
  return groups.flatMap((_, a) =>
    groups.slice(a).flatMap((_group, more): PathCount[] => {
      const b = a + more;
      const cell = (a * groups.length + b) * OUTCOMES.length;
      const [direct = 0, relayed = 0, failed = 0] = counts.subarray(cell, cell + OUTCOMES.length);
      return direct + relayed + failed > 0 ? [{ a, b, direct, relayed, failed }] : [];
    }),
  );
}

interface Pairs {
  /** Index of every node that is in a pair, by id. */
  readonly places: ReadonlyMap<string, number>;
  /** Both ends by place. */
  readonly pairs: readonly { readonly one: number; readonly other: number; readonly outcome: Outcome }[];
}

/** Finding the two ends of each path costs more than all counting: once until a node reports again, whoever asks how often. */
const pairsOf = memoize(({ nodes }: PathsOfNodes): Pairs => {
  const places = new Map<string, number>();
  const placeOf = (uid: string) => getOrInsertComputed(places, uid, () => places.size);
  const pairs = new Map<number, { readonly one: number; readonly other: number; outcome: Outcome }>();
  for (const [uid, reports] of nodes) {
    const one = placeOf(uid);
    for (const report of reports.values()) {
      const outcome = outcomeOf(report);
      const other = outcome === undefined ? one : placeOf(report.peer);
      if (outcome === undefined || other === one) continue;
      const key = Math.min(one, other) * MAX_ENDS + Math.max(one, other);
      const pair = getOrInsertComputed(pairs, key, () => ({ one, other, outcome }));
      if (WORSE[outcome] > WORSE[pair.outcome]) pair.outcome = outcome;
    }
  }
  return { places, pairs: [...pairs.values()] };
});

/** More than there are ends of all paths that are kept. */
const MAX_ENDS = 2 ** 24;

interface OpenPaths {
  readonly direct: number;
  readonly relayed: number;
}

/** By the peers that there are, and how many of them had not ended: peers only end while they are not written. */
const openPathsOf = memoize((_all: PathsOfNodes) =>
  memoize((_peers: NetworkState['peers']) => new Map<number, OpenPaths>()),
);

/** Open paths between peers that have not ended, as each end reported them. Counted once until a node reports again. */
export function openPaths(
  { workspace, peers }: Pick<NetworkState, 'workspace' | 'peers'>,
  live: readonly PeerRecord[],
  paths: Pick<ReportedPaths, 'all'>,
): OpenPaths {
  const all = paths.all(workspace);
  return getOrInsertComputed(openPathsOf(all)(peers), live.length, () => {
    const uids = new Set(live.map(({ uid }) => uid));
    const counts = { direct: 0, relayed: 0 };
    for (const [node, reports] of all.nodes) {
      if (!uids.has(node)) continue;
      for (const { peer, path } of reports.values()) if (path && uids.has(peer)) counts[path] += 1;
    }
    return counts;
  });
}

/** Returns the counts of one peer, from its own reports. */
export function countsOfPeer(reports: readonly PathReport[]): Record<Outcome, number> {
  const counts = { direct: 0, relayed: 0, failed: 0 };
  for (const report of reports) {
    const outcome = outcomeOf(report);
    if (outcome !== undefined) counts[outcome] += 1;
  }
  return counts;
}

/** Undefined while it is not known. */
function outcomeOf({ path, transport }: PathReport): Outcome | undefined {
  return path ?? (transport === 'failed' ? 'failed' : undefined);
}
