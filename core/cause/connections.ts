import { commitAt } from '../history/commits-between.ts';
import { type Flip, pairHistory } from '../history/pair/flips.ts';
import type { Identity } from '../history/pair/identity.ts';
import { pairRecordsIn } from '../history/pair/pair-records.ts';
import { notUnderstood, type QuestionEnd, type SoughtChange } from '../history/pair/question-reader.ts';
import type { Range } from '../history/pair/range.ts';
import type { Moment, Reading } from '../history/pair/readings.ts';
import type { ComputeServices } from '../intent/plan/services.ts';
import type { Protocol } from '../model/policy.ts';
import { headlineOf, opens } from './headline.ts';

/** A connection between two peers that a question is about. */
export interface QuestionPair {
  readonly src: Identity;
  readonly dst: Identity;
  readonly protocol?: Protocol;
  readonly port?: number;
}

/** All connections from one side to the other that a question is about. */
export interface QuestionConnection {
  readonly src: QuestionEnd;
  readonly dst: QuestionEnd;
  readonly protocol?: Protocol;
  readonly port?: number;
  readonly sought?: SoughtChange;
}

/** The effect of one moment on all connections that flipped alike in it. */
export interface SharedFlip extends Flip {
  readonly pairs: readonly QuestionPair[];
  /** For how many of them it answers the question, as {@link headlineOf} finds it. */
  readonly roots: number;
}

/** A connection at the beginning and at the end of a range. */
export interface PairOverRange {
  readonly pair: QuestionPair;
  readonly first: Moment;
  readonly last: Moment;
  /** The flip that led to the state at the end. */
  readonly latest: Flip | undefined;
  readonly flips: readonly Flip[];
}

export interface ConnectionsOverRange {
  readonly pairs: readonly PairOverRange[];
  /** The ones that matter most first. */
  readonly flips: readonly SharedFlip[];
}

/** Connections of one question: each is searched for on its own. */
export const MAX_PAIRS = 100;

/** @throws MeshError that asks back, where there are too many, or none */
export function pairsOf({ src, dst, protocol, port }: QuestionConnection): QuestionPair[] {
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

function tooMany(src: QuestionEnd, dst: QuestionEnd, count: number) {
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
  pairs: readonly QuestionPair[],
  range: Range,
  sought: SoughtChange | undefined,
): Promise<ConnectionsOverRange> {
  const recordsOf = pairRecordsIn(services, workspace, range);
  const over: PairOverRange[] = [];
  const shared = new Map<string, { flip: Flip; pairs: QuestionPair[]; roots: number }>();
  for (const pair of pairs) {
    const { first, flips } = pairHistory(await recordsOf(pair), range.since, pair);
    const approved = await approvedIn(services, workspace, sought?.isApproved ? flips.filter(opens) : []);
    const headline = headlineOf(flips, sought, ({ after }) => approved.has(after.revision));
    over.push({
      pair,
      first,
      last: flips.at(-1)?.after ?? first,
      latest: headlineOf(flips, undefined, () => false),
      flips,
    });
    for (const flip of flips) {
      const key = keyOf(flip);
      const own = shared.get(key) ?? { flip, pairs: [], roots: 0 };
      shared.set(key, own);
      own.pairs.push(pair);
      own.roots += Number(flip === headline);
    }
  }
  const flips = [...shared.values()].map(({ flip, ...rest }): SharedFlip => ({ ...flip, ...rest }));
  return { pairs: over, flips: flips.sort(byImportance) };
}

/** The revisions of some flips that a workflow approved. */
async function approvedIn(services: ComputeServices, workspace: string, flips: readonly Flip[]): Promise<Set<number>> {
  const revisions = flips.flatMap(({ after }) => (after.changes.length > 0 ? [after.revision] : []));
  const commits = await Promise.all(revisions.map((revision) => commitAt(services, workspace, revision)));
  return new Set(commits.flatMap((commit) => (commit?.approval ? [commit.revision] : [])));
}

function keyOf({ before, after, causes }: Flip): string {
  const said = ({ verdict, allowed, usable }: Reading) => [verdict, allowed, usable];
  return JSON.stringify([after.at, after.revision, said(before.reading), said(after.reading), causes]);
}

/** Sorts the flip first that answers the question for most connections, then the newest. */
function byImportance(a: SharedFlip, b: SharedFlip): number {
  return b.roots - a.roots || b.after.at - a.after.at || b.after.revision - a.after.revision;
}
