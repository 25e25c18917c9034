import { instantOfWall, wallTime } from '../base/time-zone.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * The newest instant at or before `now` at which clocks of a time zone reached an hour of the day. A day on which that
 * hour is skipped counts from the instant the clocks jump; of an hour that comes twice the first counts.
 */
export function lastDaily(now: number, hour: number, timeZone: string): number {
  const today = wallTime(now, timeZone);
  const midnight = today - modulo(today, DAY_MS);
  for (let day = midnight; ; day -= DAY_MS) {
    const at = instantOfWall(day + hour * HOUR_MS, timeZone);
    if (at <= now) return at;
  }
}

/** The first instant after `now` at which clocks of a time zone reach an hour of the day. */
export function nextDaily(now: number, hour: number, timeZone: string): number {
  const today = wallTime(now, timeZone);
  const midnight = today - modulo(today, DAY_MS);
  for (let day = midnight; ; day += DAY_MS) {
    const at = instantOfWall(day + hour * HOUR_MS, timeZone);
    if (at > now) return at;
  }
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
