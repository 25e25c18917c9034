import { type RecordVersion, StoreError, type VersionQuery } from '../base/ports.ts';
import type { StoredRecord } from '../base/record.ts';
import type { PolicyRecord } from '../model/resources.ts';
import { sameValue } from '../model/value.ts';
import { agentOf } from '../state/network-model.ts';
import type { NetworkServices } from '../state/services.ts';
import {
  dividedPolicies,
  FIELD_OF_KIND,
  type NetworkState,
  recordIn,
  recordsOf,
  type StateKind,
} from '../state/state.ts';
import { type NewNames, underNewNames } from './new-names.ts';

/** A record that is another one in a later state, in what decides who reaches whom. */
export interface RecordDifference {
  /** As `policies/web-to-db`. */
  readonly id: string;
  readonly kind: DecidingKind;
  readonly name: string;
  /** None where it was created between, or deleted. */
  readonly before: StoredRecord | undefined;
  readonly after: StoredRecord | undefined;
}

/** Records that the same revisions changed, which can be taken back together. */
export interface RevertibleChange {
  /** As `revision/12`, or `revision/12,15` where both wrote the same records. */
  readonly id: string;
  readonly revisions: readonly number[];
  readonly records: readonly RecordDifference[];
  /** The same records, to be taken back no further than to what its last revisions but the newest made of them, newest first. */
  readonly steps: readonly (readonly RecordDifference[])[];
}

/** Revisions of the same records that are taken back from the newest on. */
const MAX_REVISIONS = 20;
/** Versions of records in the steps of all alterations: each may tell peers apart. */
const MAX_STEPPED = 1_000;

type DecidingKind = Exclude<StateKind, 'Presence'>;
const DECIDING_KINDS = ['MeshPolicy', 'MeshPeer', 'MeshNetwork', 'AgentIdentity'] as const satisfies DecidingKind[];

/** The records in which two states differ. */
export function recordDifferences(from: NetworkState, to: NetworkState): RecordDifference[] {
  return DECIDING_KINDS.flatMap((kind) => {
    const field = FIELD_OF_KIND[kind];
    const [old, now]: ReadonlyMap<string, StoredRecord>[] = [recordsOf(from, kind), recordsOf(to, kind)];
    if (old === undefined || now === undefined || old === now) return [];
    const changed: RecordDifference[] = [];
    const add = (name: string, before: StoredRecord | undefined, after: StoredRecord | undefined) =>
      changed.push({ id: `${field}/${name}`, kind, name, before, after });
    for (const [name, record] of old) if (!now.has(name)) add(name, record, undefined);
    for (const [name, record] of now) {
      const before = old.get(name);
      if (before !== record && !(before && sameValue(decidingFieldsOf(before), decidingFieldsOf(record))))
        add(name, before, record);
    }
    return changed;
  });
}

/** Returns the part of a record that decides who reaches whom. */
function decidingFieldsOf(record: StoredRecord): unknown {
  switch (record.kind) {
    case 'MeshPeer': {
      const { network, expiresAt, agentRef, delegatedBy } = record.spec;
      const { phase, address } = record.status;
      return { uid: record.uid, labels: record.labels, network, expiresAt, agentRef, delegatedBy, phase, address };
    }
    case 'MeshNetwork':
      return { cidr: record.spec.cidr, defaultAction: record.spec.defaultAction };
    case 'AgentIdentity':
      return { uid: record.uid, spec: record.spec, status: record.status };
    default:
      return record.spec;
  }
}

/**
 * Altered records, peers by their new names, by the revisions that did it, oldest first. Each record for itself, and no revisions, where those are no
 * longer kept.
 */
export async function revertibleChangesOf(
  { store }: Pick<NetworkServices, 'store'>,
  altered: readonly RecordDifference[],
  older: NetworkState,
  newer: NetworkState,
  names: NewNames,
): Promise<RevertibleChange[]> {
  const span = { after: older.revision, upTo: newer.revision };
  const written = new Map<string, readonly RecordVersion[]>();
  for (const kind of new Set(altered.map((one) => one.kind))) {
    const field = FIELD_OF_KIND[kind];
    const stored = await versionsOf(store, older.workspace, kind, span);
    const versions = kind === 'MeshPeer' ? underNewNames(stored, older, names) : stored;
    for (const [name, own] of Map.groupBy(versions, (version) => version.name)) {
      written.set(`${field}/${name}`, decidingVersions(recordIn(older, kind, name), own));
    }
  }
  const textOf = (id: string) =>
    written.has(id) ? `revision/${written.get(id)?.map(({ revision }) => revision)}` : id;
  let stepped = 0;
  return [...Map.groupBy(altered, ({ id }) => textOf(id))]
    .map(([id, records]): RevertibleChange => {
      const revisions = written.get(records[0]?.id ?? '')?.map(({ revision }) => revision) ?? [];
      const kept = revisions.slice(-MAX_REVISIONS, -1).reverse();
      stepped += kept.length * records.length;
      const recordAt = (of: string, revision: number) =>
        written.get(of)?.findLast((version) => version.revision <= revision)?.record;
      const steps = stepped > MAX_STEPPED ? [] : kept;
      return {
        id,
        revisions,
        records,
        steps: steps.map((revision) => records.map((one) => ({ ...one, before: recordAt(one.id, revision) }))),
      };
    })
    .sort((a, b) => (a.revisions[0] ?? 0) - (b.revisions[0] ?? 0));
}

/** The versions that differ from the one before in what decides. */
function decidingVersions(base: StoredRecord | undefined, versions: readonly RecordVersion[]): RecordVersion[] {
  let last = base;
  return versions.filter(({ record }) => {
    const differs = record && last ? !sameValue(decidingFieldsOf(last), decidingFieldsOf(record)) : record !== last;
    last = record;
    return differs;
  });
}

async function versionsOf(
  store: NetworkServices['store'],
  workspace: string,
  kind: DecidingKind,
  span: VersionQuery,
): Promise<readonly RecordVersion[]> {
  try {
    return await store.versions(workspace, kind, span);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'compacted') return [];
    throw error;
  }
}

/** A state in which some records are as they were before. */
export function withReverted(state: NetworkState, records: Iterable<RecordDifference>): NetworkState {
  const maps = new Map<DecidingKind, Map<string, StoredRecord>>();
  for (const { kind, name, before } of records) {
    const own = maps.get(kind) ?? new Map<string, StoredRecord>(recordsOf(state, kind));
    maps.set(kind, own);
    if (before) own.set(name, before);
    else own.delete(name);
  }
  const policies = maps.get('MeshPolicy') as Map<string, PolicyRecord> | undefined;
  return {
    ...state,
    ...Object.fromEntries([...maps].map(([kind, own]) => [FIELD_OF_KIND[kind], own])),
    ...(policies && dividedPolicies(policies.values())),
  };
}

/** Returns true if a peer belongs to an agent, before or after: records of agents bound what it may open. */
export function isDelegated(name: string, ...states: readonly NetworkState[]): boolean {
  return states.some(({ peers }) => {
    const peer = peers.get(name);
    return peer !== undefined && agentOf(peer) !== undefined;
  });
}
