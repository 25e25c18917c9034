import { type Commit, StoreError } from '../base/ports.ts';
import { formatInstant } from '../base/time.ts';
import type { NetworkServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { type ChangeView, commitView, networkCommits } from './blame.ts';
import { firstSnapshots } from './first-snapshot.ts';

type ReadServices = Pick<NetworkServices, 'store'>;

/** Commits beside the first ones that are named. */
const MAX_NAMED = 200;

/**
 * The first commits between two states that changed the network, and others that are named, each with the first snapshot
 * that shows it. What is no longer kept is left out, and said.
 */
export async function commitsBetween(
  services: ReadServices,
  older: NetworkState,
  newer: NetworkState,
  { limit, named }: { readonly limit: number; readonly named: readonly number[] },
): Promise<{ commits: ChangeView[]; more_commits: boolean; known_since: string | null }> {
  const { workspace } = newer;
  const kept = await services.store.keptFrom(workspace);
  const isCut = kept !== undefined && kept.revision > older.revision;
  const span = { after: older.revision, upTo: newer.revision };
  const first = await networkCommits(services, workspace, { ...span, limit: limit + 1 });
  const commits = first.slice(0, limit);
  const known = new Set(commits.map(({ revision }) => revision));
  const others = [...new Set(named)].filter((revision) => !known.has(revision)).slice(0, MAX_NAMED);
  const more = await Promise.all(others.map((revision) => commitAt(services, workspace, revision)));
  const all = [...commits, ...more.flatMap((commit) => commit ?? [])].sort((a, b) => a.revision - b.revision);
  const snapshots = await firstSnapshots(services, workspace, all);
  return {
    commits: all.map((commit) => ({ ...commitView(commit), snapshot_id: snapshots.get(commit.revision) ?? null })),
    more_commits: first.length > limit,
    known_since: isCut ? formatInstant(kept.at) : null,
  };
}

/** The commit that made a revision; undefined where it is no longer kept. */
export async function commitAt(
  { store }: ReadServices,
  workspace: string,
  revision: number,
): Promise<Commit | undefined> {
  try {
    const [commit] = await store.commits(workspace, revision - 1, 1);
    return commit?.revision === revision ? commit : undefined;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'compacted') return undefined;
    throw error;
  }
}

/** The commit of a moment; undefined where time alone made it, or it is no longer kept. */
export async function commitOf(
  services: ReadServices,
  workspace: string,
  { revision, changes }: Pick<Commit, 'revision' | 'changes'>,
) {
  return changes.length === 0 ? undefined : commitAt(services, workspace, revision);
}

export async function changeView(services: ReadServices, commit: Commit): Promise<ChangeView> {
  const { workspace, revision } = commit;
  const snapshots = await firstSnapshots(services, workspace, [commit]);
  return { ...commitView(commit), snapshot_id: snapshots.get(revision) ?? null };
}
