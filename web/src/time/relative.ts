import { signal } from '@preact/signals';

/** Steps once a half minute, so that ages stay true. */
const steps = signal(0);
setInterval(() => {
  steps.value += 1;
}, 30_000);

const DAY_MS = 86_400_000;
const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', DAY_MS],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** As "3 minutes ago" or "in 2 days", to the nearest unit. */
function relativeTo(at: number, now: number): string {
  const distance = at - now;
  // 59 minutes and 40 seconds are an hour: rounded, they are 60 of the next shorter unit. Of days no number is a month.
  const isReached = (ms: number, index: number) => {
    const half = ms > DAY_MS ? 0 : (STEPS[index + 1]?.[1] ?? 0) / 2;
    return Math.abs(distance) + half >= ms;
  };
  const [unit, length] = STEPS.find(([, ms], index) => isReached(ms, index)) ?? ['second', 1_000];
  return relative.format(Math.sign(distance) * Math.round(Math.abs(distance) / length), unit);
}

/** The same of an instant, from now; it stays true while the page is open. */
export function relativeTime(at: string): string {
  steps.value;
  // Not as of the last step: what happened since would be in the future.
  return relativeTo(Date.parse(at), Date.now());
}
