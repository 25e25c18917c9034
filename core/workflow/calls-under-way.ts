import { newId } from '../base/ids.ts';
import { memoryCells } from '../base/memory-cells.ts';
import type { Clock } from '../base/ports.ts';
import type { Cells, SharedState } from '../base/shared.ts';

/** Longer than a call takes. One that a control plane has left behind by then is carried on with (core/workflow/upkeep.ts). */
const UNDER_WAY_MS = 2 * 60_000;
const MAX_HERE = 10_000;

/** Which approved calls are carried out now, wherever: what one writes in several workspaces is not one commit. */
export interface CallsUnderWay {
  /** @returns what says that it has ended, or undefined where it is under way */
  begin(call: string): Promise<(() => Promise<void>) | undefined>;
}

export function buildCallsUnderWay(parts: {
  readonly clock: Clock;
  readonly shared?: Pick<SharedState, 'cells'> | undefined;
}): CallsUnderWay {
  const { clock, shared } = parts;
  const parse = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const cells: Cells<string> = shared?.cells('call-under-way', parse) ?? memoryCells(clock, MAX_HERE);
  return {
    async begin(call) {
      const own = newId('r');
      const isBegun = await cells.change(call, (cell) =>
        cell ? { cell, result: false } : { cell: { value: own, expiresAt: clock.now() + UNDER_WAY_MS }, result: true },
      );
      if (!isBegun) return undefined;
      return () => cells.change(call, (cell) => ({ cell: cell?.value === own ? undefined : cell, result: undefined }));
    },
  };
}
