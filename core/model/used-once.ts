import { createHash } from 'node:crypto';
import { MeshError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { memoryCells } from '../base/memory-cells.ts';
import type { Clock } from '../base/ports.ts';
import type { Cells, SharedState } from '../base/shared.ts';

/** Uses of one purpose that are remembered: none makes room for another, or it could be used again. */
const MAX_USED = 10_000;

/** Purposes, with the uses of one owner that are remembered. */
const PURPOSES = {
  'issuer-sign-in': 50,
  workload: 1_000,
  'client-assertion': 2_000,
  'identity-assertion': 200,
  passkey: 50,
} as const;
type Purpose = keyof typeof PURPOSES;

interface Use {
  readonly purpose: Purpose;
  readonly what: string;
  /** Whose uses have a bound of their own: the id of an account, a client, a join token. */
  readonly owner: string;
  /** Who may repeat it; absent where nobody may. */
  readonly by?: string;
  /** When it was made, ms; absent where that does not count. */
  readonly issuedAt?: number;
  /** Milliseconds. */
  readonly expiresAt: number;
}

/** Keeps note of secrets that count once in the whole installation. Each purpose has a place of its own. */
export interface UsedOnce {
  /**
   * Takes note of a use.
   *
   * @returns false where another used it before, or may have: what is remembered in memory does not outlive the process
   * @throws MeshError `rate_limited` where too many uses are remembered
   */
  use(use: Use): Promise<boolean>;
}

export function buildUsedOnce({
  clock,
  shared,
}: {
  readonly clock: Clock;
  readonly shared?: Pick<SharedState, 'cells'> | undefined;
}): UsedOnce {
  const spaces = new Map(
    (Object.keys(PURPOSES) as Purpose[]).map((purpose): [Purpose, Cells<string>] => [
      purpose,
      shared?.cells(`used-${purpose}`, (value) => (typeof value === 'string' ? value : undefined)) ??
        memoryCells(clock, MAX_USED),
    ]),
  );
  const since = shared ? Number.NEGATIVE_INFINITY : clock.now();
  return {
    async use({ purpose, what, owner, by = newId('r'), issuedAt = since, expiresAt }) {
      if (issuedAt < since) return false;
      const cells = spaces.get(purpose) as Cells<string>;
      const tags = [digestOf(owner)];
      const { all, tagged } = await cells.count(tags);
      if (all >= MAX_USED || tagged.some((count) => count >= PURPOSES[purpose])) throw tooManyUses();
      return cells.change(digestOf(what), (cell) =>
        cell ? { cell, result: cell.value === by } : { cell: { value: by, expiresAt, tags }, result: true },
      );
    },
  };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function tooManyUses(): MeshError {
  return new MeshError('rate_limited', 'Too many sign-ins at once: try again in a minute.', { retryAfterSeconds: 60 });
}
