const DAY_MS = 86_400_000;
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

/** A day in UTC, as "3 Jan 2026": periods begin and end at midnight there. */
export function dayOf(at: string): string {
  return day.format(new Date(at));
}

/** As a field of a date has it, so many days before now. */
export function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
}
