import type { Change, RecordVersion } from '../base/ports.ts';
import type { StoredRecord } from '../base/record.ts';
import { parseInstant } from '../base/time.ts';
import type { NetworkServices } from '../state/services.ts';
import { type NetworkState, nextState, type StateKind, stateOf, trackedState } from '../state/state.ts';
import type { Range } from './pair/range.ts';

/** Presence decides nothing of who may reach whom. */
const KINDS: readonly StateKind[] = ['MeshPeer', 'MeshPolicy', 'MeshNetwork', 'AgentIdentity'];

/** A state, since when it held, and what the revision that made it changed; nothing where something ended. */
export interface StateMoment {
  readonly state: NetworkState;
  readonly at: number;
  readonly revision: number;
  readonly changes: readonly Change[];
}

/** A revision that changed the network. */
export interface NetworkStep {
  readonly revision: number;
  readonly at: number;
  readonly changes: readonly Change[];
}

export interface NetworkMoments {
  readonly start: NetworkState;
  readonly steps: readonly NetworkStep[];
  /** Instants at which the time of a record may be over, ms, in order. */
  readonly ends: readonly number[];
  /** How many moments there are, beside the first. */
  readonly count: number;
  /** Each walk makes each state from the one before. */
  readonly moments: Iterable<StateMoment>;
}

/** The instant at which the time of a record is over, ms. */
type Deadlines = (record: StoredRecord) => readonly number[];

/**
 * The network at the beginning of a range and at each moment at which who may reach whom can change: read by the index of
 * each kind, so that it costs what was written to these and not the commits between. Where the time of a record is over in
 * the instant of a commit, that comes first.
 *
 * @param deadlines instants at which time alone changes what a record counts for
 */
export async function networkMoments(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  { first, last, since, to }: Pick<Range, 'first' | 'last' | 'since' | 'to'>,
  deadlines: Deadlines = endOf,
): Promise<NetworkMoments> {
  const [bases, versions] = await Promise.all([
    Promise.all(KINDS.map((kind) => store.list(workspace, kind, { asOf: { revision: first } }))),
    Promise.all(KINDS.map((kind) => store.versions(workspace, kind, { after: first, upTo: last }))),
  ]);
  const base = bases.flatMap(({ items }) => items);
  const written = versions.flatMap((own, index) =>
    own.map((version) => ({ ...version, kind: KINDS[index] ?? 'MeshPeer' })),
  );
  const steps = stepsOf(base, written);
  const records = [...base, ...written.flatMap(({ record }) => record ?? [])];
  const all = new Set<number>();
  for (const record of records) for (const at of deadlines(record)) if (at > since && at <= to) all.add(at);
  const ends = [...all].sort((a, b) => a - b);
  const start = trackedState(stateOf(workspace, first, base));
  const count = steps.length + ends.length;
  return { start, steps, ends, count, moments: { [Symbol.iterator]: () => moments(start, steps, ends, since) } };
}

type StateVersion = RecordVersion & { readonly kind: StateKind };

function stepsOf(base: readonly StoredRecord[], written: readonly StateVersion[]): NetworkStep[] {
  const present = new Map(base.map((record) => [`${record.kind}/${record.name}`, record]));
  const revisions = [...Map.groupBy(written, ({ revision }) => revision)].sort(([a], [b]) => a - b);
  return revisions.map(([revision, versions]) => {
    const changes = versions.flatMap(({ record, kind, name }): Change[] => {
      const before = present.get(`${kind}/${name}`);
      if (record) {
        present.set(`${kind}/${name}`, record);
        return [before ? { type: 'updated', record, before } : { type: 'created', record }];
      }
      present.delete(`${kind}/${name}`);
      return before ? [{ type: 'deleted', record: before, before }] : [];
    });
    return { revision, at: versions[0]?.at ?? 0, changes };
  });
}

function* moments(
  start: NetworkState,
  steps: readonly NetworkStep[],
  ends: readonly number[],
  since: number,
): Generator<StateMoment> {
  let state = start;
  let next = 0;
  const held = (at: number): StateMoment => ({ state, at, revision: state.revision, changes: [] });
  yield held(since);
  for (const { revision, at, changes } of steps) {
    for (let end = ends[next]; end !== undefined && end <= at; end = ends[++next]) yield held(end);
    state = nextState(state, { revision, changes });
    yield { state, at, revision, changes };
  }
  for (let end = ends[next]; end !== undefined; end = ends[++next]) yield held(end);
}

/** When the time of a record is over, as an own list. */
export function endOf({ spec }: StoredRecord): number[] {
  const { expiresAt } = spec as { readonly expiresAt?: unknown };
  return typeof expiresAt === 'string' ? [parseInstant(expiresAt)] : [];
}
