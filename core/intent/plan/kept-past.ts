import { MeshError } from '../../base/errors.ts';
import { type Commit, StoreError } from '../../base/ports.ts';
import { formatInstant } from '../../base/time.ts';
import type { HistoryServices } from '../../state/services.ts';
import type { NetworkState } from '../../state/state.ts';

export async function commitAt(services: HistoryServices, workspace: string, revision: number): Promise<Commit> {
  const [commit] = await orGone(services, workspace, () => services.store.commits(workspace, revision - 1, 1));
  if (commit?.revision !== revision) {
    // Refuses one that never was.
    await stateAt(services, workspace, revision);
    throw await gone(services, workspace, `What revision ${revision} changed`);
  }
  return commit;
}

export async function stateAt(services: HistoryServices, workspace: string, revision: number): Promise<NetworkState> {
  return orGone(services, workspace, () => services.states.asOf(workspace, { revision }));
}

async function orGone<T>(services: HistoryServices, workspace: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'compacted')) throw error;
    throw await gone(services, workspace, 'That part of the history', error);
  }
}

async function gone({ store }: HistoryServices, workspace: string, what: string, cause?: unknown): Promise<MeshError> {
  const kept = await store.keptFrom(workspace);
  const since = kept && formatInstant(kept.at);
  const detail = `${what} is no longer kept${since === undefined ? '' : `: history is kept since ${since}`}.`;
  return new MeshError('not_found', detail, since === undefined ? {} : { known_since: since }, { cause });
}
