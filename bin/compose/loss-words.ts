import type { Loss } from '../../core/audit/losses.ts';
import { formatInstant } from '../../core/base/time.ts';

/** Left in the unit of a service, the flag would give up whatever is lost next. */
export const NOTHING_MISSING =
  'nothing is missing, so nothing was started: take --accept-loss out, or the next loss would go unnoticed';

export function lossLine({ workspace, had, has, since, until }: Loss): string {
  const last = formatInstant(until);
  if (has >= had) return `${workspace}: its log is not the one that had ${had} entries on ${last}`;
  const from = since === undefined ? 'all of them' : `those after ${formatInstant(since)}`;
  return `${workspace}: ${had - has} of ${had} entries are missing, ${from} up to ${last}`;
}

/** Of a log that is another one, all that the one before had. */
export function entriesLost(losses: readonly Loss[]): number {
  return losses.reduce((sum, { had, has }) => sum + (has >= had ? had : had - has), 0);
}
