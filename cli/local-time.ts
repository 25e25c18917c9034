import { parseInstant } from '../core/base/time.ts';
import { clockText } from '../core/base/time-zone.ts';

const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\b/g;

/**
 * Writes the instants of a sentence for people: by the clocks of this terminal, seconds at most.
 *
 * @param timeZone IANA name
 */
export function inLocalTime(
  sentence: string,
  timeZone: string = Intl.DateTimeFormat().resolvedOptions().timeZone,
): string {
  return sentence.replace(INSTANT, (text) => {
    const at = parseInstant(text);
    return Number.isNaN(at) ? text : `${clockText(at, timeZone)} (${timeZone})`;
  });
}
