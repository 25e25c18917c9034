import { parseInstant } from '../../core/base/time.ts';

/** How old a key is, ms. Infinite where that is not known, as of one that by this clock is not there yet. */
export function ageOfKey(since: string | undefined, now: number): number {
  const age = since === undefined ? Number.POSITIVE_INFINITY : now - parseInstant(since);
  return age < 0 ? Number.POSITIVE_INFINITY : age;
}
