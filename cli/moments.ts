import { parseDuration } from '../core/base/duration.ts';
import { formatInstant, parseInstant } from '../core/base/time.ts';
import { CliError, EXIT } from './exit.ts';

/** How moments of the past are written, for the help of options. */
export const MOMENT_FORMS =
  'an instant such as 2026-01-31T12:00:00Z, a day of UTC: 2026-01-31, or how long ago: 1h, 2d';

const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d\d-\d\d$/;
/** Options that name an end: of a day they take its last moment, others its first. */
const ENDS: ReadonlySet<string> = new Set(['--to', '--until', '--period-end']);

/** Fields that take the id of a snapshot as well. */
const OR_SNAPSHOT: ReadonlySet<string> = new Set(['from', 'to', 'snapshot_id']);

/** Whether a field of an operation is a moment of the past. */
export function isMomentField(name: string, { type, format }: { type?: string; format?: string }): boolean {
  return type === 'string' && (format === 'date-time' || OR_SNAPSHOT.has(name));
}

/**
 * A moment as the control plane takes it: `2h` is two hours ago, a day its midnight. Instants stay as they are, ids of
 * snapshots too.
 *
 * @param what the option, as it is written
 * @throws CliError for what is none of them
 */
export function momentOf(text: string, what: string, now = Date.now()): string {
  const ago = parseDuration(text);
  if (ago !== undefined && ago <= now) return formatInstant(now - ago);
  if (DAY.test(text)) {
    const begin = parseInstant(text);
    // The engine takes the 30th of February for the 2nd of March.
    if (!Number.isNaN(begin) && formatInstant(begin).startsWith(text)) {
      return formatInstant(ENDS.has(what) ? begin + DAY_MS : begin);
    }
    throw new CliError(`${what}: there is no day ${text}.`, EXIT.input);
  }
  if (text.startsWith('snap_') || !Number.isNaN(parseInstant(text))) return text;
  throw new CliError(`${what} takes ${MOMENT_FORMS}; not "${text}".`, EXIT.input);
}
