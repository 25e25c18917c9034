import type { CallContext } from './operation.ts';
import type { Op, Store } from './ports.ts';

/**
 * Runs a check of a batch that the store has not been given yet. Where it says no, and the caller may not write the batch at
 * all, that is told instead: whoever may not write something learns nothing of the network by trying.
 */
export async function permitFirst<T>(
  {
    services,
    caller,
    workspace,
    requestId,
  }: Pick<CallContext<{ readonly store: Store }>, 'services' | 'caller' | 'workspace' | 'requestId'>,
  ops: readonly Op[],
  check: () => T | Promise<T>,
): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (caller.kind === 'agent') await services.store.trial?.(workspace, ops, requestId);
    throw error;
  }
}
