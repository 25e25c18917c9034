import type { Change } from '../base/ports.ts';
import type { StoredRecord } from '../base/record.ts';
import { isStateKind, type NetworkState } from './state.ts';

/** Bytes of a record's entries in the maps of a state, and in the engine compiled from it. */
const PLACE_BYTES = 250;
/** Bytes of an object besides its text: field names are shared, values are boxed. */
const RECORD_BYTES = 250;

/** Bytes of a state without records: its maps, and what the plane stores for each. */
const EMPTY_BYTES = 5_000;

const FIELDS = ['peers', 'policies', 'networks', 'agents', 'presence'] as const;

/** The records of a state, each with the one of that name in another state. */
export function* recordsBeside(state: NetworkState, other: NetworkState | undefined) {
  for (const field of FIELDS) {
    const records: ReadonlyMap<string, StoredRecord> = state[field];
    const others: ReadonlyMap<string, StoredRecord> | undefined = other?.[field];
    for (const [name, record] of records) yield { field, name, record, beside: others?.get(name) };
  }
}

/** Returns the bytes of a state that it does not share with another one. */
export function stateBytes(state: NetworkState, other?: NetworkState): number {
  let bytes = EMPTY_BYTES;
  for (const { record, beside } of recordsBeside(state, other)) {
    bytes += PLACE_BYTES;
    if (record !== beside) bytes += recordBytes(record);
  }
  return bytes;
}

/** Returns the bytes that changes add to a state; negative where it gets smaller. */
export function addedBytes(changes: readonly Change[]): number {
  let bytes = 0;
  for (const { type, record, before } of changes) {
    if (!isStateKind(record.kind)) continue;
    if (type !== 'deleted') bytes += PLACE_BYTES + recordBytes(record);
    const gone = type === 'deleted' ? record : before;
    if (gone) bytes -= PLACE_BYTES + recordBytes(gone);
  }
  return bytes;
}

function recordBytes(record: StoredRecord): number {
  return RECORD_BYTES + JSON.stringify(record).length;
}
