import { formatInstant, MAX_INSTANT } from '../core/base/time.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
/** Units with their length in milliseconds; a time is told in the largest that it holds once. */
const UNITS = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;
/** From here on the day itself says more than a count of days. */
const MAX_DAYS = 60;
const NEVER = formatInstant(MAX_INSTANT);

/**
 * Returns an instant as people read it beside others: `3 min ago`, `in 29 days`, its day where it is far away, or `never`.
 *
 * @param text the instant as answers write it
 * @param now ms
 * @returns undefined where the text is no instant
 */
export function relativeTime(text: string, now = Date.now()): string | undefined {
  if (text === NEVER) return 'never';
  if (!INSTANT.test(text)) return undefined;
  const away = Date.parse(text) - now;
  if (Number.isNaN(away)) return undefined;
  const length = away > 0 ? rounded(away) : -away;
  const [unit, size] = unitOf(length);
  const count = Math.floor(length / size);
  if (count === 0) return 'now';
  if (unit === 'day' && count >= MAX_DAYS) return text.slice(0, 10);
  const amount = `${count} ${unit === 'day' && count > 1 ? 'days' : unit}`;
  return away > 0 ? `in ${amount}` : `${amount} ago`;
}

/** Rounds to the nearest unit, so that a wait of three hours still reads `in 3 h` a second later. */
function rounded(length: number): number {
  const [, size] = unitOf(length);
  return Math.round(length / size) * size;
}

function unitOf(length: number): (typeof UNITS)[number] {
  return UNITS.find(([, size]) => length >= size) ?? ['s', 1_000];
}
