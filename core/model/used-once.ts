import { createHash } from 'node:crypto';
import { MeshError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { memoryCells } from '../base/memory-cells.ts';
import type { Clock } from '../base/ports.ts';
import type { Cells, SharedState } from '../base/shared.ts';

/** Uses of one purpose that are remembered: none makes room for another, or it could be used again. */
const MAX_USED = 10_000;
/** Uses of one tag, such as those of one client. */
const MAX_OF_TAG = 200;

const PURPOSES = ['issuer-sign-in', 'workload', 'client-assertion', 'passkey'] as const;
type Purpose = (typeof PURPOSES)[number];

interface Use {
  readonly purpose: Purpose;
  readonly what: string;
  /** Who may repeat it; absent where nobody may. */
  readonly by?: string;
  /** Milliseconds. */
  readonly expiresAt: number;
  /** Whose uses have a bound of their own, such as the id of a client. */
  readonly tag?: string;
}

/** Keeps note of secrets that count once in the whole installation. Each purpose has a place of its own. */
export interface UsedOnce {
  /**
   * Takes note of a use.
   *
   * @returns false where another used it before
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
    PURPOSES.map((purpose): [Purpose, Cells<string>] => [
      purpose,
      shared?.cells(`used-${purpose}`, (value) => (typeof value === 'string' ? value : undefined)) ??
        memoryCells(clock, MAX_USED),
    ]),
  );
  return {
    async use({ purpose, what, by = newId('r'), expiresAt, tag }) {
      const cells = spaces.get(purpose) as Cells<string>;
      const tags = tag === undefined ? [] : [digestOf(tag)];
      const { all, tagged } = await cells.count(tags);
      if (all >= MAX_USED || tagged.some((count) => count >= MAX_OF_TAG)) throw tooManyUses();
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
