import { createHash } from 'node:crypto';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** After each failed attempt, how long until the next one: the schedule that Standard Webhooks proposes. */
export const RETRY_AFTER_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
/** Attempts in all, after which a delivery is dead. */
export const MAX_ATTEMPTS = RETRY_AFTER_MS.length + 1;
/** The longest that a receiver may ask to wait (`Retry-After`). */
export const MAX_RETRY_AFTER_MS = 24 * HOUR;
/** Maximum jitter as a share of the delay, so that deliveries that failed together do not retry together. */
const JITTER = 0.2;
/** Without a single success for so long a webhook is disabled. */
export const FAILING_DAYS = 5;

/**
 * When a delivery is tried again.
 *
 * @param failed attempts so far
 * @param asked milliseconds that the receiver asks to wait
 * @returns undefined where it was the last attempt
 */
export function nextAttemptAt(
  id: string,
  failed: number,
  now: number,
  asked: number | undefined = 0,
): number | undefined {
  const wait = RETRY_AFTER_MS[failed - 1];
  if (wait === undefined) return undefined;
  // Always the same for one attempt, and evenly spread over all.
  const share = createHash('sha256').update(`${id} ${failed}`).digest().readUInt16BE(0) / 0x1_0000;
  return now + Math.max(Math.round(wait * (1 + JITTER * share)), Math.min(asked, MAX_RETRY_AFTER_MS));
}
