import { signal } from '@preact/signals';

/** Steps once a half minute, so that ages stay true. */
const steps = signal(0);
setInterval(() => {
  steps.value += 1;
}, 30_000);

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** As "3 minutes ago" or "in 2 days". */
function relativeTo(at: number, now: number): string {
  const distance = at - now;
  const [unit, length] = STEPS.find(([, ms]) => Math.abs(distance) >= ms) ?? ['second', 1_000];
  return relative.format(Math.trunc(distance / length), unit);
}

/** The same of an instant, from now; it stays true while the page is open. */
export function relativeTime(at: string): string {
  steps.value;
  // Not as of the last step: what happened since would be in the future.
  return relativeTo(Date.parse(at), Date.now());
}
