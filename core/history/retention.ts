import type { Edition } from '../base/edition.ts';
import { newId } from '../base/ids.ts';
import type { CommitContext } from '../base/ports.ts';
import type { NetworkServices } from '../state/services.ts';
import { snapshotNameAt } from './snapshot-record.ts';

const DAY_MS = 24 * 3_600_000;
/** How long the past can be asked about. The audit log is not cut. */
const RETENTION_MS: Readonly<Record<Edition, number>> = { community: 90 * DAY_MS, pro: 365 * DAY_MS };

/** Snapshots deleted in one commit. */
const BATCH = 200;

/** Deletes snapshots past their time and drops the versions that only they could show. */
export async function enforceRetention(
  services: Pick<NetworkServices, 'store' | 'clock' | 'edition'>,
  workspace: string,
): Promise<{ readonly snapshots: number; readonly versions: number }> {
  const { store, clock, edition } = services;
  const cutoff = clock.now() - RETENTION_MS[edition];
  const snapshots = await deleteSnapshots(services, workspace, cutoff);
  const inForce = await store.revisionAt(workspace, cutoff);
  if (!inForce) return { snapshots, versions: 0 };
  const named = await oldestNamed(services, workspace, cutoff, inForce.revision);
  return { snapshots, versions: await store.compact(workspace, inForce.revision, named) };
}

async function deleteSnapshots(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  cutoff: number,
): Promise<number> {
  const context: CommitContext = {
    actor: 'system:retention',
    reason: 'snapshots past their time',
    requestId: newId('r'),
  };
  let deleted = 0;
  for (;;) {
    // Names run from the newest to the oldest: everything after this name was captured before the cutoff.
    const after = snapshotNameAt(cutoff - 1);
    const { items } = await store.list(workspace, 'Snapshot', { after, limit: BATCH });
    if (items.length === 0) return deleted;
    const ops = items.map(({ kind, name }) => ({ op: 'delete', key: { kind, name } }) as const);
    await store.commit(workspace, ops, context);
    deleted += items.length;
  }
}

/** Kept snapshots that show a revision from before the cut, as one taken within its last revision does. */
async function oldestNamed(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  cutoff: number,
  upTo: number,
): Promise<number[]> {
  const after = snapshotNameAt(cutoff + DAY_MS);
  const { items } = await store.list(workspace, 'Snapshot', { after });
  const revisions = items.map(({ spec }) => spec.revision);
  return [...new Set(revisions.filter((revision) => revision <= upTo))];
}
