import { StoreError } from '../../base/ports.ts';
import type { NetworkServices } from '../../state/services.ts';
import type { NetworkState } from '../../state/state.ts';
import { commitAt } from '../commits-between.ts';
import { type Identity, nameIn } from './identity.ts';
import { pairRecords } from './pair-records.ts';
import { type Moment, momentsOf, type PairQuestion, type Reading, readerOf } from './readings.ts';

type ReadServices = Pick<NetworkServices, 'store' | 'states' | 'clock'>;

/** The time around an instant in which a verdict and its ports hold, and both peers exist, ms. */
export interface VerdictSpan {
  readonly from: Edge;
  /** Undefined while the verdict still holds. */
  readonly to: Edge | undefined;
}

/** Where a verdict begins or ends; one that is not exact is as far as the search went: the verdict holds beyond it. */
export interface Edge {
  readonly at: number;
  readonly isExact: boolean;
}

/** Revisions of one window: small first, as most verdicts are asked about soon after they changed. */
const WINDOWS = [512, 4_096, 8_192, 8_192, 8_192, 8_192, 8_192, 8_192];
/** Versions of records that one search reads; about 150 ms. */
const MAX_VERSIONS = 8_192;

/**
 * Searches from an instant in both directions for the nearest moments at which the verdict of a connection, or its ports,
 * are others, or one of its peers did not exist. The work has a bound that no length of the history changes.
 *
 * @param state in force at the instant
 * @param windows how many revisions each step of the search looks at
 */
export async function verdictSpan(
  services: ReadServices,
  state: NetworkState,
  instant: number,
  question: PairQuestion,
  windows: readonly number[] = WINDOWS,
): Promise<VerdictSpan> {
  try {
    const from = await beginOf(services, state, instant, question, windows);
    return { from, to: await endOf(services, state, instant, question, windows) };
  } catch (error) {
    // A snapshot is kept longer than the history around it.
    if (!(error instanceof StoreError && error.code === 'compacted')) throw error;
    const unknown = { at: instant, isExact: false };
    return { from: unknown, to: unknown };
  }
}

async function beginOf(
  services: ReadServices,
  { workspace, revision }: NetworkState,
  instant: number,
  question: PairQuestion,
  windows: readonly number[],
): Promise<Edge> {
  const kept = await services.store.keptFrom(workspace);
  if (!kept || kept.revision > revision) return { at: instant, isExact: false };
  const judge = readerOf(question);
  let begin: Moment | undefined;
  let next = Number.POSITIVE_INFINITY;
  let last = { revision, at: instant };
  let aliases: Identity[] = [];
  let read = 0;
  for (const size of windows) {
    const first = await edgeOf(services, workspace, Math.max(kept.revision, last.revision - size), kept);
    const span = { first: first.revision, last: last.revision, since: first.at, to: last.at };
    const records = await pairRecords(services, workspace, question, span, aliases);
    for (const moment of [...momentsOf(records, span.since, judge)].toReversed()) {
      begin ??= moment;
      if (isSameVerdict(begin.reading, moment.reading)) begin = moment;
      // Only the last of several moments in one instant holds for any time.
      else if (moment.at < next) return { at: begin.at, isExact: true };
      next = moment.at;
    }
    if (first.revision === kept.revision) return { at: first.at, isExact: kept.revision <= 1 };
    read += records.versions;
    last = first;
    aliases = namedIn(records.start, question);
    if (read >= MAX_VERSIONS) break;
  }
  return { at: last.at, isExact: false };
}

async function endOf(
  services: ReadServices,
  { workspace, revision }: NetworkState,
  instant: number,
  question: PairQuestion,
  windows: readonly number[],
): Promise<Edge | undefined> {
  const now = services.clock.now();
  const newest = (await services.states.current(workspace)).revision;
  if (revision === newest && instant >= now) return undefined;
  const judge = readerOf(question);
  let wanted: Reading | undefined;
  let flipped: number | undefined;
  let aliases: Identity[] = [];
  let first = { revision, at: instant };
  let read = 0;
  for (const size of windows) {
    const end = first.revision + size;
    const last = end >= newest ? { revision: newest, at: now } : await edgeOf(services, workspace, end);
    const span = { first: first.revision, last: last.revision, since: first.at, to: last.at };
    const records = await pairRecords(services, workspace, question, span, aliases);
    for (const { at, reading, state } of momentsOf(records, span.since, judge)) {
      wanted ??= reading;
      if (flipped !== undefined && at > flipped) return { at: flipped, isExact: true };
      aliases = namedIn(state, question);
      flipped = isSameVerdict(wanted, reading) ? undefined : (flipped ?? at);
    }
    if (last.revision === newest) return flipped === undefined ? undefined : { at: flipped, isExact: true };
    read += records.versions;
    first = last;
    if (read >= MAX_VERSIONS) break;
  }
  return { at: first.at, isExact: false };
}

/** A revision and when it came into force. */
async function edgeOf(
  services: ReadServices,
  workspace: string,
  revision: number,
  kept?: { readonly revision: number; readonly at: number },
): Promise<{ readonly revision: number; readonly at: number }> {
  if (revision === kept?.revision) return kept;
  const commit = await commitAt(services, workspace, revision);
  if (!commit) throw new StoreError('compacted', `Revision ${revision} is no longer kept.`);
  return commit;
}

/** The ends by the names of the state in which two windows meet: the next window finds them by these. */
function namedIn(state: NetworkState, { src, dst }: PairQuestion): Identity[] {
  return [src, dst].map((end) => ({ ...end, name: nameIn(state, end) ?? end.name }));
}

/** A pair of which one peer does not exist has no verdict, though nothing reaches it either. */
function isSameVerdict(a: Reading, b: Reading): boolean {
  return (
    a.verdict === b.verdict &&
    JSON.stringify(a.allowed) === JSON.stringify(b.allowed) &&
    (['src', 'dst'] as const).every((side) => exists(a, side) === exists(b, side))
  );
}

function exists({ presence }: Reading, side: 'src' | 'dst'): boolean {
  return presence[side] !== 'unknown';
}
