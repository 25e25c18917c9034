import { invalidInput } from '../base/errors.ts';
import type { Change, Op } from '../base/ports.ts';
import { draftOf, type RecordDraft, type StoredRecord } from '../base/record.ts';
import { MAX_FIELD_ERRORS } from '../base/schema-errors.ts';
import { sameValue } from '../model/value.ts';
import { afterCommit, type NetworkState } from '../state/state.ts';

export type ChangeOutcome = 'created' | 'updated' | 'unchanged' | 'deleted';

/** The kinds that changes are about. */
export type ChangedKind = 'MeshPolicy' | 'MeshNetwork' | 'MeshPeer';

/** Words for the kinds in messages. */
export const WORD = { MeshPolicy: 'policy', MeshNetwork: 'network', MeshPeer: 'peer' } as const;

/** A change of a batch on its way to an op. */
export interface PlannedChange {
  readonly index: number;
  readonly resource: ChangedKind;
  readonly name: string;
  readonly outcome: ChangeOutcome;
  op?: Op;
  /** The record before and after; neither where nothing changes. */
  readonly before?: StoredRecord<ChangedKind>;
  next?: StoredRecord<ChangedKind>;
}

/** A record written again, or left alone where it is the same. */
export function updateOf(
  state: NetworkState,
  index: number,
  before: StoredRecord<ChangedKind>,
  record: RecordDraft<ChangedKind>,
): PlannedChange {
  const { kind: resource, name, revision } = before;
  if (sameValue(record, draftOf(before))) return { index, resource, name, outcome: 'unchanged' };
  const op: Op = { op: 'update', record, revision };
  return { index, resource, name, outcome: 'updated', op, before, next: nextOf(state, before, record) };
}

/** The record as the store will have it. */
export function nextOf(
  state: NetworkState,
  before: StoredRecord<ChangedKind>,
  record: RecordDraft<ChangedKind>,
): StoredRecord<ChangedKind> {
  const { workspace, createdAt } = before;
  const same = sameValue(record.spec, before.spec) && sameValue(record.labels, before.labels);
  const generation = before.generation + (same ? 0 : 1);
  return { ...record, workspace, createdAt, generation, revision: state.revision + 1 };
}

export function refuseDoubles(planned: readonly PlannedChange[]): void {
  const groups = Map.groupBy(planned, ({ resource, name }) => `${resource}/${name.toLowerCase()}`);
  const doubles = [...groups.values()].filter(({ length }) => length > 1).flat();
  if (doubles.length === 0) return;
  const faults = doubles.slice(0, MAX_FIELD_ERRORS).map(({ resource, name, index }) => ({
    pointer: `/changes/${index}/name`,
    detail: `The ${WORD[resource]} ${name} is named twice: say it once.`,
  }));
  throw invalidInput(faults);
}

export function stateAfter(state: NetworkState, planned: readonly PlannedChange[]): NetworkState {
  const changes = planned.flatMap(({ before, next }): Change[] => {
    if (next) return [{ type: before ? 'updated' : 'created', record: next, ...(before && { before }) }];
    return before ? [{ type: 'deleted', record: before, before }] : [];
  });
  return afterCommit(state, { revision: state.revision + (changes.length > 0 ? 1 : 0), changes });
}
