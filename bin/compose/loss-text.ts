import type { Loss, LostHead } from '../../core/audit/losses.ts';
import { formatInstant } from '../../core/base/time.ts';

/** Left in the unit of a service, the flag would give up whatever is lost next. */
export const NOTHING_MISSING =
  'nothing is missing, so nothing was started: take --accept-loss out, or the next loss would go unnoticed';

const HEADS: Readonly<Record<LostHead['head'], string>> = {
  'not there': 'is not there, although the log was signed before',
  'no checkpoint': 'is empty, cut short or damaged',
  'of another key': 'is signed by no key that credentials.json has',
};

export function lossLine(missing: Loss | LostHead): string {
  if ('head' in missing) {
    const { workspace, head } = missing;
    return `the file log-heads/${workspace} ${HEADS[head]}: what the database must hold of this log is not known`;
  }
  const { workspace, had, has, since, until } = missing;
  const last = formatInstant(until);
  if (has >= had) return `${workspace}: its log is not the one that had ${had} entries on ${last}`;
  const from = since === undefined ? 'all of them' : `those after ${formatInstant(since)}`;
  return `${workspace}: ${had - has} of ${had} entries are missing, ${from} up to ${last}`;
}

/** Returns the number of lost entries. A log with another history counts as lost whole. */
export function lostEntryCount(losses: readonly Loss[]): number {
  return losses.reduce((sum, { had, has }) => sum + (has >= had ? had : had - has), 0);
}
