import { relativeTime } from '../time/relative.ts';

const short = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** An instant in ms as `HH:MM:SS`, in the viewer's zone. */
export function clockTime(at: number): string {
  return clock.format(at);
}

/** In the viewer's zone, and in UTC. */
export function exactTime(at: string): string {
  return `${exact.format(new Date(at))} (${at.replace('.000Z', 'Z')})`;
}

/** In the viewer's zone, to the minute. */
export function shortTime(at: string): string {
  return short.format(new Date(at));
}

const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\b/g;

/** A sentence with its instants in the viewer's zone. */
export function withShortTimes(sentence: string): string {
  return sentence.replace(INSTANT, (at) => (Number.isNaN(Date.parse(at)) ? at : shortTime(at)));
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
