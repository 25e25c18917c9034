/** Tries that an account has at once from addresses that it never signed in from, all of them together. */
const TRIES_AT_ONCE = 20;
/** Then one more in so many ms: 2,880 a day. */
const PACE_MS = 30_000;

/**
 * Takes one of the tries that an account has from new addresses. A site that failed so many times takes none of as many that
 * are left: the last ones are there for a person at an address that nobody guessed from.
 *
 * @param spentUntil instant at which all tries at once are there again
 * @returns `spentUntil` as it is then; `waitMs`, and the same instant, where no try is left for this site
 */
export function takeAttempt(
  spentUntil: number,
  failures: number,
  now: number,
): { readonly spentUntil: number; readonly waitMs: number } {
  const needed = Math.min(failures + 1, TRIES_AT_ONCE);
  const waitMs = Math.max(spentUntil, now) - (TRIES_AT_ONCE - needed) * PACE_MS - now;
  if (waitMs > 0) return { spentUntil, waitMs };
  return { spentUntil: Math.max(spentUntil, now) + PACE_MS, waitMs: 0 };
}

/** Gives back a try that was no guess. */
export function returnAttempt(spentUntil: number): number {
  return spentUntil - PACE_MS;
}
