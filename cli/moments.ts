import { parseDuration } from '../core/base/duration.ts';
import { isDayInWords, momentOfWords } from '../core/base/moment-text.ts';
import { formatInstant, parseInstant } from '../core/base/time.ts';
import { CliError, EXIT } from './exit.ts';

/** How moments of the past are written, for the help of options. */
export const MOMENT_FORMS =
  'an instant such as 2026-01-31T12:00:00Z, a day (2026-01-31, yesterday, today) in the time zone of the workspace, or how long ago: 1h, 2d';

/** Fields that take the id of a snapshot as well. */
const OR_SNAPSHOT: ReadonlySet<string> = new Set(['from', 'to', 'snapshot_id']);

/** Returns true if a field of an operation is a moment of the past. */
export function isMomentField(name: string, { type, format }: { type?: string; format?: string }): boolean {
  return type === 'string' && (format === 'date-time' || OR_SNAPSHOT.has(name));
}

/**
 * A moment as the control plane takes it: `2h` is two hours ago. Days stay words, as the control plane alone knows the time
 * zone of the workspace; instants and ids of snapshots stay as they are.
 *
 * @param what the option, as it is written
 * @throws CliError for what is none of them
 */
export function momentOf(text: string, what: string, now = Date.now()): string {
  const ago = parseDuration(text);
  if (ago !== undefined && ago <= now) return formatInstant(now - ago);
  if (isDayInWords(text)) {
    if (momentOfWords(text, { now, timeZone: 'UTC', edge: 'begin' }) !== undefined) return text;
    throw new CliError(`${what}: there is no day ${text}.`, EXIT.input);
  }
  if (text.startsWith('snap_') || !Number.isNaN(parseInstant(text))) return text;
  throw new CliError(`${what} takes ${MOMENT_FORMS}; not "${text}".`, EXIT.input);
}
