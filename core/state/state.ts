import type { Commit } from '../base/ports.ts';
import type { StoredRecord } from '../base/record.ts';
import { RecordMap } from '../model/record-map.ts';
import type { AgentRecord, NetworkRecord, PeerRecord, PolicyRecord, PresenceRecord } from '../model/resources.ts';

/** The network of one workspace at one revision: immutable, records by name. */
export interface NetworkState {
  readonly workspace: string;
  readonly revision: number;
  readonly peers: ReadonlyMap<string, PeerRecord>;
  readonly policies: ReadonlyMap<string, PolicyRecord>;
  readonly networks: ReadonlyMap<string, NetworkRecord>;
  readonly agents: ReadonlyMap<string, AgentRecord>;
  /** By peer name. */
  readonly presence: ReadonlyMap<string, PresenceRecord>;
}

export const FIELD_OF_KIND = {
  MeshPeer: 'peers',
  MeshPolicy: 'policies',
  MeshNetwork: 'networks',
  AgentIdentity: 'agents',
  Presence: 'presence',
} as const;

/** The kinds a {@link NetworkState} is made of. */
export type StateKind = keyof typeof FIELD_OF_KIND;
export const STATE_KINDS = Object.keys(FIELD_OF_KIND) as readonly StateKind[];

/** A state from the records of all its kinds, in any order. */
export function stateOf(workspace: string, revision: number, records: Iterable<StoredRecord>): NetworkState {
  const maps = { peers: new Map(), policies: new Map(), networks: new Map(), agents: new Map(), presence: new Map() };
  for (const record of records) if (isStateKind(record.kind)) maps[FIELD_OF_KIND[record.kind]].set(record.name, record);
  return { workspace, revision, ...maps };
}

/** The state after a commit that may never happen. */
export function afterCommit(state: NetworkState, commit: Pick<Commit, 'revision' | 'changes'>): NetworkState {
  return moved(state, commit, (records, changed) => records.branch(changed));
}

/** The state after the commit that follows the newest state. */
export function nextState(state: NetworkState, commit: Pick<Commit, 'revision' | 'changes'>): NetworkState {
  return moved(state, commit, (records, changed) => records.with(changed));
}

/** Costs what the commit changes, not what there is; maps that it does not touch stay the same. */
function moved(
  state: NetworkState,
  { revision, changes }: Pick<Commit, 'revision' | 'changes'>,
  move: (records: RecordMap, changed: ReadonlyMap<string, StoredRecord | undefined>) => RecordMap,
): NetworkState {
  const fields = [...changedRecords(changes)].map(
    ([field, changed]) => [field, move(RecordMap.from<StoredRecord>(state[field]), changed)] as const,
  );
  return { ...state, ...Object.fromEntries(fields), revision };
}

/** The same state, made to be followed by others. */
export function tracked(state: NetworkState): NetworkState {
  const maps = Object.values(FIELD_OF_KIND).map((field) => [field, RecordMap.from<StoredRecord>(state[field])]);
  return { ...state, ...Object.fromEntries(maps) };
}

type Field = (typeof FIELD_OF_KIND)[StateKind];

function changedRecords(changes: Commit['changes']): Map<Field, Map<string, StoredRecord | undefined>> {
  const changed = new Map<Field, Map<string, StoredRecord | undefined>>();
  for (const { type, record } of changes) {
    if (!isStateKind(record.kind)) continue;
    const field = FIELD_OF_KIND[record.kind];
    const records = changed.get(field) ?? new Map<string, StoredRecord | undefined>();
    changed.set(field, records.set(record.name, type === 'deleted' ? undefined : record));
  }
  return changed;
}

/** The record of a state by kind and stored name. */
export function recordIn(state: NetworkState, kind: string, name: string): StoredRecord | undefined {
  return isStateKind(kind) ? state[FIELD_OF_KIND[kind]].get(name) : undefined;
}

/** Whether records of a kind are part of a {@link NetworkState}. */
export function isStateKind(kind: string): kind is StateKind {
  return kind in FIELD_OF_KIND;
}
