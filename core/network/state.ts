import type { Commit } from '../ports.ts';
import type { StoredRecord } from '../record.ts';
import type { AgentRecord, NetworkRecord, PeerRecord, PolicyRecord, PresenceRecord } from './resources.ts';

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

const FIELD_OF_KIND = {
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

/** The state after a commit; only the maps that the commit touches are copied. */
export function afterCommit(
  state: NetworkState,
  { revision, changes }: Pick<Commit, 'revision' | 'changes'>,
): NetworkState {
  const copied = new Map<string, Map<string, StoredRecord>>();
  for (const { type, record } of changes) {
    if (!isStateKind(record.kind)) continue;
    const field = FIELD_OF_KIND[record.kind];
    const map = copied.get(field) ?? new Map<string, StoredRecord>(state[field]);
    copied.set(field, map);
    if (type === 'deleted') map.delete(record.name);
    else map.set(record.name, record);
  }
  return { ...state, ...Object.fromEntries(copied), revision };
}

/** Whether records of a kind are part of a {@link NetworkState}. */
export function isStateKind(kind: string): kind is StateKind {
  return kind in FIELD_OF_KIND;
}
