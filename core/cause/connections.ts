import { type Flip, pairHistory } from '../history/pair/flips.ts';
import { pairRecordsIn } from '../history/pair/pair-records.ts';
import { type AskedEnd, notUnderstood } from '../history/pair/question-reader.ts';
import type { Range } from '../history/pair/range.ts';
import type { Reading } from '../history/pair/readings.ts';
import type { ComputeServices } from '../intent/plan/services.ts';
import type { Protocol } from '../model/policy.ts';
import type { PeerRecord } from '../model/resources.ts';

/** A connection between two peers that a question is about. */
export interface AskedPair {
  readonly src: PeerRecord;
  readonly dst: PeerRecord;
  readonly protocol?: Protocol;
  readonly port?: number;
}

/** What a question is about: every connection from one side to the other. */
export interface AskedConnection {
  readonly src: AskedEnd;
  readonly dst: AskedEnd;
  readonly protocol?: Protocol;
  readonly port?: number;
}

/** What one moment did to all connections that flipped alike in it. */
export interface SharedFlip extends Flip {
  readonly pairs: readonly AskedPair[];
  /** For how many of them it is what made them what they are, as {@link rootOf} finds it. */
  readonly roots: number;
}

/** A connection at the beginning and at the end of a range. */
export interface PairOverRange {
  readonly pair: AskedPair;
  readonly first: Reading;
  readonly last: Reading;
}

export interface ConnectionsOverRange {
  readonly pairs: readonly PairOverRange[];
  /** The ones that matter most first. */
  readonly flips: readonly SharedFlip[];
}

/** Connections of one question: each is searched for on its own. */
export const MAX_PAIRS = 100;

/** @throws MeshError that asks back, where there are too many, or none */
export function pairsOf({ src, dst, protocol, port }: AskedConnection): AskedPair[] {
  const scope = { ...(protocol && { protocol }), ...(port !== undefined && { port }) };
  const count = src.peers.length * dst.peers.length;
  if (count > MAX_PAIRS + Math.min(src.peers.length, dst.peers.length)) throw tooMany(src, dst, count);
  const pairs = src.peers.flatMap((from) =>
    dst.peers.flatMap((to) => (from.uid === to.uid ? [] : [{ src: from, dst: to, ...scope }])),
  );
  if (pairs.length > MAX_PAIRS) throw tooMany(src, dst, pairs.length);
  if (pairs.length > 0) return pairs;
  throw notUnderstood(`${src.text} to ${dst.text} is no connection: name two peers.`);
}

function tooMany(src: AskedEnd, dst: AskedEnd, count: number) {
  const names = [src, dst].flatMap(({ peers }) => (peers.length > 1 ? peers.map(({ name }) => name) : []));
  return notUnderstood(
    `${src.text} to ${dst.text} are ${count} connections, and at most ${MAX_PAIRS} are searched at once: name fewer peers.`,
    names.sort(),
  );
}

/** Every flip of some connections in a range; those that one moment made alike are one. */
export async function connectionsOver(
  services: ComputeServices,
  workspace: string,
  pairs: readonly AskedPair[],
  range: Range,
): Promise<ConnectionsOverRange> {
  const recordsOf = pairRecordsIn(services, workspace, range);
  const over: PairOverRange[] = [];
  const shared = new Map<string, { flip: Flip; pairs: AskedPair[]; roots: number }>();
  for (const pair of pairs) {
    const { first, flips } = pairHistory(await recordsOf(pair), range.since, pair);
    over.push({ pair, first: first.reading, last: (flips.at(-1)?.after ?? first).reading });
    const root = rootOf(flips);
    for (const flip of flips) {
      const key = keyOf(flip);
      const own = shared.get(key) ?? { flip, pairs: [], roots: 0 };
      shared.set(key, own);
      own.pairs.push(pair);
      own.roots += Number(flip === root);
    }
  }
  const flips = [...shared.values()].map(({ flip, ...rest }): SharedFlip => ({ ...flip, ...rest }));
  return { pairs: over, flips: flips.sort(byImportance) };
}

function keyOf({ before, after, causes }: Flip): string {
  const said = ({ verdict, allowed, usable }: Reading) => [verdict, allowed, usable];
  return JSON.stringify([after.at, after.revision, said(before.reading), said(after.reading), causes]);
}

/** What most connections owe their state to comes first, then the newest. */
function byImportance(a: SharedFlip, b: SharedFlip): number {
  return b.roots - a.roots || b.after.at - a.after.at || b.after.revision - a.after.revision;
}

/**
 * The newest flip that made a connection worse than it ever was again: what is to be put back. None where it works at the
 * end.
 */
function rootOf(flips: readonly Flip[]): Flip | undefined {
  let best = Number.NEGATIVE_INFINITY;
  return flips.toReversed().find(({ before, after }) => {
    best = Math.max(best, weightOf(after.reading));
    return best < weightOf(before.reading);
  });
}

function weightOf({ verdict, usable }: Reading): number {
  return (verdict === 'reachable' ? 4 : verdict === 'partial' ? 2 : 0) + Number(usable);
}
