import { type Limits, MIN_PENDING_BYTES } from './limits.ts';
import type { Session } from './session.ts';
import type { Source } from './sources.ts';

/** True if a receiver has so much pending that it is cut off. `waiting` is the number of bytes pending for all receivers. */
export function isTooSlow(
  { pending, source, inFlight }: Session,
  waiting: number,
  { maxPending, maxTotalPending }: Limits,
): boolean {
  const isStranger = source.node === undefined;
  if (isStranger && inFlight > 0 && waiting > 2 * maxTotalPending) return true;
  if (pending <= MIN_PENDING_BYTES) return false;
  return waiting > maxTotalPending || pending > maxPending || pendingOf(source) > maxPending;
}

/** Bytes waiting for connections of a source that are behind. */
function pendingOf({ sessions }: Source): number {
  let sum = 0;
  for (const { pending } of sessions) sum += pending > MIN_PENDING_BYTES ? pending : 0;
  return sum;
}
