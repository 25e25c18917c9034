import { createHash } from 'node:crypto';
import { newId } from '../base/ids.ts';
import type { NoStatus, RecordDraft, StoredRecord } from '../base/record.ts';
import { RecordMap } from '../model/record-map.ts';
import type { PresenceRecord } from '../model/resources.ts';
import type { NetworkState } from '../state/state.ts';
import { SNAPSHOT_LISTS, semanticOf } from './semantic.ts';

/** Causes of a snapshot (docs/history.md#what-makes-a-snapshot). */
export const TRIGGER_TYPES = [
  'policy_change',
  'peer_online',
  'peer_offline',
  'workflow_executed',
  'manual',
  'scheduled',
] as const;
export type TriggerType = (typeof TRIGGER_TYPES)[number];

/** A snapshot is a named revision: what it shows is read from the store's history. */
export interface SnapshotSpec {
  readonly revision: number;
  /** Milliseconds. */
  readonly capturedAt: number;
  readonly trigger: TriggerType;
  /** Actor of the commit that caused it, or who asked for it. */
  readonly triggeredBy: string;
  /** SHA-256 over the semantic state, hex: equal digests mean an equal network. */
  readonly digest: string;
  /** Bytes of the versions since the snapshot before, as stored: there with or without a snapshot. 0.1.0 did not count them. */
  readonly historyBytes?: number;
}
declare module '../base/record.ts' {
  interface RecordTypes {
    Snapshot: { spec: SnapshotSpec; status: NoStatus };
  }
}

export type SnapshotRecord = StoredRecord<'Snapshot'>;

/** Bytes of JSON that a snapshot adds to the store. It names a revision, so they do not depend on how large the network is. */
export function sizeOf(record: SnapshotRecord): number {
  return new TextEncoder().encode(JSON.stringify(record)).length;
}

/** Above every instant in milliseconds that can be captured; 15 digits. */
const FAR = 999_999_999_999_999;
const DIGITS = 15;

/** The name before which every snapshot taken after an instant sorts: names run from the newest to the oldest. */
export function snapshotNameAt(capturedAt: number): string {
  return String(FAR - Math.max(0, Math.min(capturedAt, FAR))).padStart(DIGITS, '0');
}

/** When the snapshot of a name was captured, ms. */
export function capturedAtOf(name: string): number {
  return FAR - Number(name.slice(0, DIGITS));
}

export function snapshotDraft(spec: SnapshotSpec): RecordDraft<'Snapshot'> {
  const uid = newId('snap');
  return {
    kind: 'Snapshot',
    name: `${snapshotNameAt(spec.capturedAt)}.${uid}`,
    uid,
    labels: {},
    annotations: {},
    spec,
    status: {},
    unique: [],
  };
}

const hashes = new WeakMap<StoredRecord, bigint>();

/** Equal for equal networks, as snapshots show them: without revisions and times. */
export function digestOf(state: NetworkState): string {
  const total = createHash('sha256');
  for (const field of [...SNAPSHOT_LISTS, 'presence'] as const) {
    total.update(`${sumOf(state[field]).toString(16)}\n`);
  }
  if (state.waiting.size > 0) total.update(`${sumOf(state.waiting).toString(16)}\n`);
  return total.digest('hex');
}

interface RecordSum {
  readonly records: ReadonlyMap<string, StoredRecord>;
  readonly sum: bigint;
}

/** By line of records: the sum taken last, from which the next one is a few records away. */
const sums = new WeakMap<object, RecordSum>();
const SUM_BITS = 256;

/** The hashes of all records, added: an order of names would have to be found again for every snapshot. */
function sumOf(records: ReadonlyMap<string, StoredRecord>): bigint {
  const line = records instanceof RecordMap ? records.line : records;
  const known = sums.get(line);
  const changed = known && RecordMap.changedNames(known.records, records);
  let sum = known && changed ? known.sum : 0n;
  for (const name of changed ?? records.keys()) {
    const [old, now] = [changed && known?.records.get(name), records.get(name)];
    if (old !== now) sum += (now ? hashOf(now) : 0n) - (old ? hashOf(old) : 0n);
  }
  sum = BigInt.asUintN(SUM_BITS, sum);
  sums.set(line, { records, sum });
  return sum;
}

/** Kept beside the record: from one snapshot to the next nearly all records are the same objects. */
function hashOf(record: StoredRecord): bigint {
  const known = hashes.get(record);
  if (known) return known;
  const hash = record.kind === 'Presence' ? hashOfPresence(record) : hashOfText(record.kind, semanticOf(record));
  hashes.set(record, hash);
  return hash;
}

/** Hashes presence: an offline peer counts like one that never connected, because a snapshot shows them alike. */
function hashOfPresence({ kind, name, spec }: PresenceRecord): bigint {
  return spec.online ? hashOfText(kind, name) : 0n;
}

function hashOfText(kind: string, value: unknown): bigint {
  return BigInt(`0x${createHash('sha256').update(kind).update(JSON.stringify(value)).digest('hex')}`);
}
