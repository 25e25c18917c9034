import { newId } from '../../core/base/ids.ts';
import { type Fence, type Store, StoreError } from '../../core/base/ports.ts';

/**
 * A store through which the holder of a lease writes: each write stands only if the lease is still held then.
 *
 * @param under without a fence nothing is written
 */
export function fencedStore(
  store: Store,
  { lease, fence }: { readonly lease: string; readonly fence: number | undefined },
): Store {
  const held = (): Fence => {
    if (fence === undefined) throw new StoreError('fenced', lease);
    return { lease, fence };
  };
  const commit: Store['commit'] = async (workspace, ops, context) =>
    store.commit(workspace, ops, { ...context, fence: held() });
  return {
    ...store,
    commit,
    /** A batch that only tells events makes no revision. */
    async record(workspace, events) {
      for (const { requestId = newId('r'), ...event } of events) {
        await commit(workspace, [], { actor: event.actor, reason: event.type, requestId, securityEvents: [event] });
      }
    },
    compact: async (workspace, upTo, keep) => store.compact(workspace, upTo, keep, held()),
  };
}
