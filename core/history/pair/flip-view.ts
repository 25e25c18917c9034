import { type Commit, StoreError } from '../../base/ports.ts';
import type { NetworkServices } from '../../state/services.ts';
import { commitView, type NetworkCommit } from '../blame.ts';
import { snapshotNameAt } from '../snapshot-record.ts';
import type { Moment } from './readings.ts';

type ReadServices = Pick<NetworkServices, 'store'>;

/** The commit that changed a connection, and the first snapshot that shows it. */
export interface ChangeView extends NetworkCommit {
  readonly snapshot_id: string | null;
}

/** A snapshot comes at most so long after the commit that it is about, ms; see `debounce.ts`. */
const SNAPSHOT_WITHIN_MS = 60_000;
const SNAPSHOTS = 200;

/** The commit of a moment; undefined where time alone made it, or it is no longer kept. */
export async function commitOf({ store }: ReadServices, workspace: string, { revision, changes }: Moment) {
  if (changes.length === 0) return undefined;
  try {
    const [commit] = await store.commits(workspace, revision - 1, 1);
    return commit?.revision === revision ? commit : undefined;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'compacted') return undefined;
    throw error;
  }
}

export async function changeView(services: ReadServices, commit: Commit): Promise<ChangeView> {
  return { ...commitView(commit), snapshot_id: await firstSnapshotOf(services, commit) };
}

async function firstSnapshotOf({ store }: ReadServices, { workspace, revision, at }: Commit): Promise<string | null> {
  // Names run from the newest to the oldest.
  const after = snapshotNameAt(at + SNAPSHOT_WITHIN_MS);
  const { items } = await store.list(workspace, 'Snapshot', { after, limit: SNAPSHOTS });
  const shown = items.filter(({ spec }) => spec.revision >= revision && spec.capturedAt >= at);
  return shown.at(-1)?.uid ?? null;
}
