import { relativeTime } from '../time/relative.ts';
import { isUtc } from '../time/zone.ts';

/** Formats instants in the zone that the viewer chose. */
function formatOf(options: Intl.DateTimeFormatOptions): (at: string | number) => string {
  const local = new Intl.DateTimeFormat('en-GB', options);
  const utc = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
  return (at) => (isUtc.value ? utc : local).format(new Date(at));
}

const DAY_AND_MINUTE = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const;
const inYear = formatOf(DAY_AND_MINUTE);
const withYear = formatOf({ ...DAY_AND_MINUTE, year: 'numeric' });
const yearOf = formatOf({ year: 'numeric' });

/** To the minute; with the year, unless it is this one. */
export function shortTime(at: string | number): string {
  return yearOf(at) === yearOf(Date.now()) ? inYear(at) : withYear(at);
}

/** As `Thursday 12 March`. */
export const dayText = formatOf({ weekday: 'long', day: 'numeric', month: 'long' });
/** Hour and minute: for what stands below its day. */
export const dayClock = formatOf({ timeStyle: 'short' });
/** As `HH:MM:SS`. */
export const clockTime = formatOf({ timeStyle: 'medium' });
const exact = formatOf({ dateStyle: 'medium', timeStyle: 'medium' });

/** In the viewer's zone, and in UTC. */
export function exactTime(at: string): string {
  return `${exact(at)} (${at.replace('.000Z', 'Z')})`;
}

/** An instant relative to now, the exact one on hover. */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="dim">never</span>;
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(at)}
    </time>
  );
}
