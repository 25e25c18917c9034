import { createHash } from 'node:crypto';
import { memoryCells } from '../base/memory-cells.ts';
import type { Clock } from '../base/ports.ts';
import type { Cells, SharedState } from '../base/shared.ts';

const MAX_USED = 10_000;

/** Keeps note of secrets that count once in the whole installation: returned sign-ins at issuers, OIDC tokens of workloads. */
export interface UsedOnce {
  /**
   * Takes note of a use.
   *
   * @param by who may repeat it
   * @returns false where another used it before
   */
  use(what: string, by: string, expiresAt: number): Promise<boolean>;
}

export function buildUsedOnce({
  clock,
  shared,
}: {
  readonly clock: Clock;
  readonly shared?: Pick<SharedState, 'cells'> | undefined;
}): UsedOnce {
  const cells: Cells<string> =
    shared?.cells('used-once', (value) => (typeof value === 'string' ? value : undefined)) ??
    memoryCells(clock, MAX_USED);
  return {
    use: (what, by, expiresAt) =>
      cells.change(createHash('sha256').update(what).digest('base64url'), (cell) =>
        cell ? { cell, result: cell.value === by } : { cell: { value: by, expiresAt }, result: true },
      ),
  };
}
