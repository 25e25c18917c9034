import { StoreError } from '../base/ports.ts';
import type { Verdict } from '../reachability/explanation.ts';
import type { NetworkServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { commitView, type NetworkCommit } from './blame.ts';

type ChangeServices = Pick<NetworkServices, 'store' | 'states'>;

/**
 * A commit after a revision across which a verdict became what it is now. Found by halving, so that a long history costs
 * few compilations; null where that part of the history is no longer kept, or time alone changed the verdict.
 */
export async function decidingCommit(
  services: ChangeServices,
  from: NetworkState,
  current: NetworkState,
  verdictIn: (state: NetworkState, instant: number) => Verdict,
  today: Verdict,
): Promise<NetworkCommit | null> {
  const { workspace } = current;
  let low = from.revision + 1;
  let high = current.revision;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await verdictAt(services, workspace, middle, verdictIn)) === today) high = middle;
    else low = middle + 1;
  }
  const commit = low > current.revision ? undefined : await commitOf(services, workspace, low);
  return commit && commit.changes.length > 0 ? commitView(commit) : null;
}

async function verdictAt(
  services: ChangeServices,
  workspace: string,
  revision: number,
  verdictIn: (state: NetworkState, instant: number) => Verdict,
): Promise<Verdict | undefined> {
  const commit = await commitOf(services, workspace, revision);
  return commit && verdictIn(await services.states.asOf(workspace, { revision }), commit.at);
}

/** Undefined where it is no longer kept. */
async function commitOf({ store }: ChangeServices, workspace: string, revision: number) {
  try {
    return (await store.commits(workspace, revision - 1, 1))[0];
  } catch (error) {
    if (error instanceof StoreError && error.code === 'compacted') return undefined;
    throw error;
  }
}
