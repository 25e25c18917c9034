import { getOrInsertComputed } from '../base/get-or-insert.ts';
import type { PathReport, ReportedPaths } from '../model/reported-paths.ts';
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

type Outcome = 'direct' | 'relayed' | 'failed';
const WORSE: Readonly<Record<Outcome, number>> = { direct: 0, relayed: 1, failed: 2 };

/** Pairs of peers by how their nodes said last that they reach each other. No peer is in two groups. */
export function pathCounts(
  { workspace, peers }: Pick<NetworkState, 'workspace' | 'peers'>,
  groups: readonly PeerGroup[],
  paths: Pick<ReportedPaths, 'of'>,
): PathCount[] {
  const places = new Map<string, { readonly group: number; readonly place: number }>();
  for (const [group, { peers: names }] of groups.entries()) {
    for (const name of names) {
      const uid = peers.get(name)?.uid;
      if (uid !== undefined) places.set(uid, { group, place: places.size });
    }
  }
  const pairs = new Map<number, { readonly a: number; readonly b: number; outcome: Outcome }>();
  for (const [uid, own] of places) {
    for (const report of paths.of(workspace, uid)) {
      const other = places.get(report.peer);
      const outcome = outcomeOf(report);
      if (!other || outcome === undefined || other.place === own.place) continue;
      const [low, high] = own.place < other.place ? [own, other] : [other, own];
      const [a, b] = [Math.min(own.group, other.group), Math.max(own.group, other.group)];
      const pair = getOrInsertComputed(pairs, low.place * places.size + high.place, () => ({ a, b, outcome }));
      if (WORSE[outcome] > WORSE[pair.outcome]) pair.outcome = outcome;
    }
  }
  const counts = new Map<string, { a: number; b: number } & Record<Outcome, number>>();
  for (const { a, b, outcome } of pairs.values()) {
    getOrInsertComputed(counts, `${a} ${b}`, () => ({ a, b, direct: 0, relayed: 0, failed: 0 }))[outcome] += 1;
  }
  return [...counts.values()];
}

/** Of one peer, as it said itself. */
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
