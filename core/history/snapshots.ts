import { MeshError } from '../base/errors.ts';
import type { CommitContext } from '../base/ports.ts';
import { writtenRecord } from '../base/written-record.ts';
import type { HistoryServices, NetworkServices } from '../state/services.ts';
import { digestOf, type SnapshotRecord, snapshotDraft, snapshotNameAt, type TriggerType } from './snapshot-record.ts';

/** The state to capture: the present one, or that of an earlier revision at the instant it came into force, ms. */
export type Capture = { readonly trigger: TriggerType; readonly triggeredBy: string } & (
  | { readonly revision: number; readonly capturedAt: number }
  | { readonly revision?: undefined }
);

/**
 * Stores a snapshot. An equal state makes no new one, except when a person or the schedule asked for it.
 *
 * @returns the record; undefined when nothing had changed since the last snapshot.
 */
export async function takeSnapshot(
  { store, states, clock }: HistoryServices,
  workspace: string,
  capture: Capture,
  context: CommitContext,
): Promise<SnapshotRecord | undefined> {
  const { trigger, triggeredBy, revision } = capture;
  const state = revision === undefined ? await states.current(workspace) : await states.asOf(workspace, { revision });
  const last = await latestSnapshot({ store }, workspace);
  const digest = digestOf(state);
  const asked = trigger === 'manual' || trigger === 'scheduled';
  if (!asked && last?.spec.digest === digest) return undefined;
  const since = Math.min(last?.spec.revision ?? 0, state.revision);
  const historyBytes = await store.sizeBetween(workspace, since, state.revision);
  // Commit times never decrease, but the clock may: the state in force at `capturedAt` is the one captured.
  const capturedAt = revision === undefined ? Math.max(clock.now(), last?.spec.capturedAt ?? 0) : capture.capturedAt;
  const draft = snapshotDraft({ revision: state.revision, capturedAt, trigger, triggeredBy, digest, historyBytes });
  return writtenRecord(await store.commit(workspace, [{ op: 'create', record: draft }], context), draft);
}

export async function latestSnapshot(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
): Promise<SnapshotRecord | undefined> {
  const { items } = await store.list(workspace, 'Snapshot', { limit: 1 });
  return items[0];
}

export interface SnapshotQuery {
  /** Captured at or after, ms. */
  readonly from?: number | undefined;
  /** Captured at or before, ms. */
  readonly to?: number | undefined;
  readonly trigger?: TriggerType | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

const SCAN = 250;
/** Rows looked at for one page; a rare trigger may answer less than a full page and a cursor to go on from. */
const MAX_SCANNED = 5_000;

/** Snapshots of a time range, newest first. */
export async function listSnapshots(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  { from = 0, to, trigger, cursor, limit }: SnapshotQuery,
): Promise<{ readonly items: readonly SnapshotRecord[]; readonly next?: string }> {
  const found: SnapshotRecord[] = [];
  // Names run from the newest to the oldest, so the scan begins just above `to`.
  let after = cursor ?? (to === undefined ? undefined : snapshotNameAt(to));
  for (let scanned = 0; ; ) {
    const page = await store.list(workspace, 'Snapshot', { limit: SCAN, ...(after !== undefined && { after }) });
    for (const record of page.items) {
      if (record.spec.capturedAt < from) return { items: found };
      if (trigger !== undefined && record.spec.trigger !== trigger) continue;
      if (found.length === limit) return { items: found, next: found.at(-1)?.name ?? '' };
      found.push(record);
    }
    after = page.items.at(-1)?.name;
    scanned += page.items.length;
    if (page.next === undefined || after === undefined) return { items: found };
    if (scanned >= MAX_SCANNED) return { items: found, next: after };
  }
}

/** A snapshot by its id. @throws MeshError `not_found` */
export async function getSnapshot(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  id: string,
): Promise<SnapshotRecord> {
  const record = await store.getById(workspace, 'Snapshot', id);
  if (record) return record;
  throw new MeshError(
    'not_found',
    `There is no snapshot ${id} in this workspace: list_snapshots shows them. An instant such as 2026-01-31T12:00:00Z is taken too.`,
  );
}
