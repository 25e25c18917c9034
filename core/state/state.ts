import type { Commit } from '../base/ports.ts';
import type { StoredRecord } from '../base/record.ts';
import { waits } from '../model/policy-match.ts';
import type { QuarantinedAddresses } from '../model/quarantine.ts';
import { RecordMap } from '../model/record-map.ts';
import type { AgentRecord, NetworkRecord, PeerRecord, PolicyRecord, PresenceRecord } from '../model/resources.ts';

/** The network of one workspace at one revision: immutable, records by name. */
export interface NetworkState {
  readonly workspace: string;
  readonly revision: number;
  readonly peers: ReadonlyMap<string, PeerRecord>;
  /** Those that have begun. All that decides who reaches whom reads these alone. */
  readonly policies: ReadonlyMap<string, PolicyRecord>;
  /** Those with a `startsAt`, which a job takes off when they begin. They count for nothing. */
  readonly waiting: ReadonlyMap<string, PolicyRecord>;
  readonly networks: ReadonlyMap<string, NetworkRecord>;
  readonly agents: ReadonlyMap<string, AgentRecord>;
  /** By peer name. */
  readonly presence: ReadonlyMap<string, PresenceRecord>;
  /** By address. Of the present state alone: it keeps no history and is no part of what the network was. */
  readonly quarantine: QuarantinedAddresses;
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

const FIELDS = { ...FIELD_OF_KIND, AddressRest: 'quarantine' } as const;
type Field = (typeof FIELDS)[keyof typeof FIELDS] | 'waiting';
const ALL_FIELDS: readonly Field[] = [...Object.values(FIELDS), 'waiting'];

function fieldOf({ kind, spec }: StoredRecord): Field | undefined {
  if (kind === 'MeshPolicy' && waits(spec)) return 'waiting';
  return Object.hasOwn(FIELDS, kind) ? FIELDS[kind as keyof typeof FIELDS] : undefined;
}

/** A state from the records of all its kinds, in any order. */
export function stateOf(workspace: string, revision: number, records: Iterable<StoredRecord>): NetworkState {
  const maps: Record<Field, Map<string, StoredRecord>> = {
    peers: new Map(),
    policies: new Map(),
    waiting: new Map(),
    networks: new Map(),
    agents: new Map(),
    presence: new Map(),
    quarantine: new Map(),
  };
  for (const record of records) {
    const field = fieldOf(record);
    if (field) maps[field].set(record.name, record);
  }
  return { workspace, revision, ...(maps as Pick<NetworkState, Field>) };
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
  const fields = [...changedRecords(state, changes)].map(
    ([field, changed]) => [field, move(RecordMap.from<StoredRecord>(state[field]), changed)] as const,
  );
  return { ...state, ...Object.fromEntries(fields), revision };
}

const NOTHING = new Map<string, never>();

/**
 * The state without what decides about no traffic. Who keeps a state for its policies keeps this: an old version of a map holds
 * all that changed in it since, and who is online changes all the time.
 */
export function decidingState(state: NetworkState): NetworkState {
  return { ...state, presence: NOTHING, quarantine: NOTHING };
}

/** The same state, made to be followed by others. */
export function trackedState(state: NetworkState): NetworkState {
  const maps = ALL_FIELDS.map((field) => [field, RecordMap.from<StoredRecord>(state[field])]);
  return { ...state, ...Object.fromEntries(maps) };
}

function changedRecords(
  state: NetworkState,
  changes: Commit['changes'],
): Map<Field, Map<string, StoredRecord | undefined>> {
  const changed = new Map<Field, Map<string, StoredRecord | undefined>>();
  for (const { type, record } of changes) {
    const put = (field: Field, value: StoredRecord | undefined) => {
      const records = changed.get(field) ?? new Map<string, StoredRecord | undefined>();
      changed.set(field, records.set(record.name, value));
    };
    const field = fieldOf(record);
    if (field === undefined) continue;
    const other = OTHER_FIELD[field];
    if (other && state[other].has(record.name)) put(other, undefined);
    put(field, type === 'deleted' ? undefined : record);
  }
  return changed;
}

/** A policy that begins moves from the one to the other. */
const OTHER_FIELD: Partial<Record<Field, 'policies' | 'waiting'>> = { policies: 'waiting', waiting: 'policies' };

/** The records of a kind by name: of policies, those that wait too. */
export function recordsOf<K extends StateKind>(state: NetworkState, kind: K): NetworkState[(typeof FIELD_OF_KIND)[K]];
export function recordsOf(state: NetworkState, kind: StateKind): ReadonlyMap<string, StoredRecord> {
  return kind === 'MeshPolicy' ? writtenPolicies(state) : state[FIELD_OF_KIND[kind]];
}

/** Every policy by name, whether it counts or waits: for those that name, show, change or delete policies. */
export function writtenPolicies({ policies, waiting }: Policies): NetworkState['policies'] {
  return waiting.size === 0 ? policies : new Map([...policies, ...waiting]);
}

type Policies = Pick<NetworkState, 'policies' | 'waiting'>;

/** Returns policies divided into those that count and those that wait. */
export function dividedPolicies(records: Iterable<PolicyRecord>): Policies {
  const { policies, waiting } = stateOf('', 0, records);
  return { policies, waiting };
}

/** The record of a state by kind and stored name. */
export function recordIn(state: NetworkState, kind: string, name: string): StoredRecord | undefined {
  if (!isStateKind(kind)) return undefined;
  return state[FIELD_OF_KIND[kind]].get(name) ?? (kind === 'MeshPolicy' ? state.waiting.get(name) : undefined);
}

/** Returns true if records of a kind are part of a {@link NetworkState}. */
export function isStateKind(kind: string): kind is StateKind {
  return kind in FIELD_OF_KIND;
}
