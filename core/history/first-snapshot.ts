import type { Commit } from '../base/ports.ts';
import type { NetworkServices } from '../state/services.ts';
import { type SnapshotRecord, snapshotNameAt } from './snapshot-record.ts';

/** A snapshot comes at most so long after the commit that it is about, ms; see `debounce.ts`. */
const SNAPSHOT_WITHIN_MS = 60_000;
const SNAPSHOTS = 200;

/** The id of the first snapshot that shows each commit, by revision; none where none was taken in time. */
export async function firstSnapshots(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  commits: readonly Pick<Commit, 'revision' | 'at'>[],
): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  let known: { readonly upTo: number; readonly items: readonly SnapshotRecord[] } | undefined;
  for (const { revision, at } of commits.toSorted((a, b) => b.revision - a.revision)) {
    const upTo = at + SNAPSHOT_WITHIN_MS;
    // Names run from the newest to the oldest.
    if (!known || known.upTo < upTo || !reaches(known.items, at)) {
      const { items } = await store.list(workspace, 'Snapshot', { after: snapshotNameAt(upTo), limit: SNAPSHOTS });
      known = { upTo, items };
    }
    const shown = known.items.findLast(
      ({ spec }) => spec.revision >= revision && spec.capturedAt >= at && spec.capturedAt <= upTo,
    );
    if (shown) found.set(revision, shown.uid);
  }
  return found;
}

function reaches(newestFirst: readonly SnapshotRecord[], at: number): boolean {
  const oldest = newestFirst.at(-1);
  return newestFirst.length < SNAPSHOTS || (oldest !== undefined && oldest.spec.capturedAt < at);
}
