import type { Commit } from '../../base/ports.ts';
import type { NetworkServices } from '../../state/services.ts';
import { type ChangeView, commitView } from '../blame.ts';
import { commitAt } from '../commits-between.ts';
import { firstSnapshots } from '../first-snapshot.ts';
import type { Moment } from './readings.ts';

type ReadServices = Pick<NetworkServices, 'store'>;

/** The commit of a moment; undefined where time alone made it, or it is no longer kept. */
export async function commitOf(services: ReadServices, workspace: string, { revision, changes }: Moment) {
  return changes.length === 0 ? undefined : commitAt(services, workspace, revision);
}

export async function changeView(services: ReadServices, commit: Commit): Promise<ChangeView> {
  const { workspace, revision } = commit;
  const snapshots = await firstSnapshots(services, workspace, [commit]);
  return { ...commitView(commit), snapshot_id: snapshots.get(revision) ?? null };
}
