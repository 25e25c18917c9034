import { newId } from '../base/ids.ts';
import { memoryCells } from '../base/memory-cells.ts';
import type { Clock } from '../base/ports.ts';
import type { Cells, SharedState } from '../base/shared.ts';

/** Longer than a call takes. Upkeep resumes one that a control plane left behind (core/workflow/upkeep.ts). */
const LOCK_MS = 2 * 60_000;
const MAX_LOCKS_HERE = 10_000;

/** Locks of approved calls across control planes: the writes of a call in several workspaces are not one commit. */
export interface CallLocks {
  /** @returns the release; undefined where another holds the lock */
  acquire(call: string): Promise<(() => Promise<void>) | undefined>;
}

export function buildCallLocks(parts: {
  readonly clock: Clock;
  readonly shared?: Pick<SharedState, 'cells'> | undefined;
}): CallLocks {
  const { clock, shared } = parts;
  const parse = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const cells: Cells<string> = shared?.cells('call-under-way', parse) ?? memoryCells(clock, MAX_LOCKS_HERE);
  return {
    async acquire(call) {
      const own = newId('r');
      const isAcquired = await cells.change(call, (cell) =>
        cell ? { cell, result: false } : { cell: { value: own, expiresAt: clock.now() + LOCK_MS }, result: true },
      );
      if (!isAcquired) return undefined;
      return () => cells.change(call, (cell) => ({ cell: cell?.value === own ? undefined : cell, result: undefined }));
    },
  };
}
