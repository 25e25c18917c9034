import { exclusionReason, type FileRecord, type PrunedKind } from '../model/file-records.ts';
import { lookUp } from '../model/find.ts';
import { DEFAULT_NETWORK } from '../model/resources.ts';
import { type NetworkState, writtenPolicies } from '../state/state.ts';
import type { NetworkChange } from './changes.ts';

/**
 * Deletes what is there of some kinds and is not among the changes, so that the documents behind them say all there is. The
 * default network stays, and what files do not hold. Rules for workloads are no change of the network.
 *
 * @param by who asks
 */
export function pruning(
  kinds: readonly PrunedKind[],
  changes: readonly NetworkChange[],
  state: NetworkState,
  { by, now }: { readonly by: string | undefined; readonly now: number },
): NetworkChange[] {
  return kinds.flatMap((resource) => {
    if (resource === 'WorkloadRule') return [];
    const records: ReadonlyMap<string, FileRecord> =
      resource === 'MeshPolicy' ? writtenPolicies(state) : state.networks;
    const named = changes.flatMap((change) =>
      change.resource === resource ? [lookUp(records, change.name)?.name] : [],
    );
    const kept = new Set([...named, ...(resource === 'MeshNetwork' ? [DEFAULT_NETWORK] : [])]);
    return [...records.values()]
      .filter((record) => !kept.has(record.name) && exclusionReason(record, by, now) === undefined)
      .map(({ name }) => ({ action: 'delete', resource, name }) as const);
  });
}
