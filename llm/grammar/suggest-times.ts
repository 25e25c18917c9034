/** Words that say when, and that a policy has no field for unless they end it. */
const CALENDAR: ReadonlySet<string> = new Set([
  ...'monday tuesday wednesday thursday friday saturday sunday weekday weekdays weekend weekends tomorrow today tonight'.split(
    ' ',
  ),
  ...'noon midnight morning evening night nights daily nightly weekly hourly hour hours minute minutes second seconds'.split(
    ' ',
  ),
  ...'day days week weeks month months year years decade later forever always permanently starting beginning expiring during'.split(
    ' ',
  ),
  ...'january february march april june july august september october november december dec nov oct sept feb jan'.split(
    ' ',
  ),
]);

export function isCalendarWord(text: string): boolean {
  return CALENDAR.has(text) || /^\d{1,2}:\d{2}$/.test(text);
}
