import type { Change } from '../base/ports.ts';
import type { StoredRecord } from '../base/record.ts';
import { type Effect, effectOf } from '../effect/effect.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { momentOf, stateAt } from '../state/begins.ts';
import { afterCommit, isStateKind, type NetworkState } from '../state/state.ts';
import type { NetworkStates } from '../state/states.ts';
import type { Write } from './writes.ts';

/** A change on its way, both states compiled for the same instant. */
export interface Comparison {
  readonly before: NetworkState;
  readonly after: NetworkState;
  readonly was: Reachability;
  readonly is: Reachability;
  readonly effect: Effect;
  readonly now: number;
}

/** The input of a judgement. */
export interface JudgementInput {
  readonly states: Pick<NetworkStates, 'reachability'>;
  readonly state: NetworkState;
  readonly writes: readonly Write[];
  readonly now: number;
}

/** Returns the network before and after a batch of writes, and its effect, as of the first instant at which it changes anything. */
export function comparison({ states, state, writes, now }: JudgementInput): Comparison {
  const after = stateAfter(state, writes);
  return comparedAt(state, after, momentOf(state, after, now), states);
}

/** Returns two states and the effect between them as they are at an instant, when the policies that begin by then have begun. */
export function comparedAt(
  one: NetworkState,
  other: NetworkState,
  now: number,
  states: JudgementInput['states'],
): Comparison {
  const [before, after] = [stateAt(one, now), stateAt(other, now)];
  const [was, is] = [states.reachability(before, now), states.reachability(after, now)];
  return { before, after, was, is, effect: effectOf(was, is), now };
}

/**
 * Returns the network after a batch of writes that may never be made. Renamed records keep their current names, so that a
 * comparison of the two states knows the same peer in both by the name that people know: names decide nothing.
 */
export function stateAfter(state: NetworkState, writes: readonly Write[]): NetworkState {
  const revision = state.revision + 1;
  const { workspace } = state;
  const todays = todaysNames(writes);
  const [gone, written]: [Change[], Change[]] = [[], []];
  for (const { kind, name: next, before, after } of writes) {
    if (!isStateKind(kind)) continue;
    const name = todays.get(keyOf(kind, next)) ?? next;
    if (before && (!after || before.name !== name)) gone.push({ type: 'deleted', record: before, before });
    if (!after) continue;
    const [createdAt, generation] = [before?.createdAt ?? 0, (before?.generation ?? 0) + 1];
    const record: StoredRecord = { ...namingPeer(after, todays), name, workspace, createdAt, generation, revision };
    written.push({ type: before ? 'updated' : 'created', record, ...(before && { before }) });
  }
  const changes = [...gone, ...written];
  return changes.length === 0 ? state : afterCommit(state, { revision, changes });
}

/** Returns the current names of renamed records by their new names, without names that a new record takes over. */
function todaysNames(writes: readonly Write[]): ReadonlyMap<string, string> {
  const made = new Set(writes.flatMap(({ type, kind, name }) => (type === 'created' ? [keyOf(kind, name)] : [])));
  return new Map(
    writes.flatMap(({ kind, name, before, after }) => {
      const isRenamed = before && after && before.name !== name && !made.has(keyOf(kind, before.name));
      return isRenamed ? [[keyOf(kind, name), before.name]] : [];
    }),
  );
}

function keyOf(kind: string, name: string): string {
  return `${kind}/${name}`;
}

/** The identity of an agent says the name of its peer. */
function namingPeer(record: NonNullable<Write['after']>, todays: ReadonlyMap<string, string>): typeof record {
  if (record.kind !== 'AgentIdentity' || record.status.peerRef === undefined) return record;
  const peerRef = todays.get(keyOf('MeshPeer', record.status.peerRef));
  return peerRef === undefined ? record : { ...record, status: { ...record.status, peerRef } };
}
