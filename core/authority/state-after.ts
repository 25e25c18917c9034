import type { Change } from '../base/ports.ts';
import type { StoredRecord } from '../base/record.ts';
import { afterCommit, isStateKind, type NetworkState } from '../state/state.ts';
import type { Write } from './writes.ts';

/** The network after a batch of writes that may never be made. */
export function stateAfter(state: NetworkState, writes: readonly Write[]): NetworkState {
  const revision = state.revision + 1;
  const changes = writes.flatMap(({ kind, before, after }): Change[] => {
    if (!isStateKind(kind)) return [];
    const gone: Change[] =
      before && (!after || before.name !== after.name) ? [{ type: 'deleted', record: before, before }] : [];
    if (!after) return gone;
    const record: StoredRecord = {
      ...after,
      workspace: state.workspace,
      createdAt: before?.createdAt ?? 0,
      generation: (before?.generation ?? 0) + 1,
      revision,
    };
    return [...gone, { type: before ? 'updated' : 'created', record, ...(before && { before }) }];
  });
  return changes.length === 0 ? state : afterCommit(state, { revision, changes });
}
