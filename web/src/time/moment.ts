import { instantOfWall, wallTime } from '../../../core/base/time-zone.ts';
import { browserZone, isUtc } from './zone.ts';

/** Instants in addresses are as the API writes them: `2026-01-31T12:00:00.000Z`. */

/** A text that names an instant, as the API writes it; undefined for any other. */
export function instantOf(text: string | null | undefined): string | undefined {
  return instantAt(Date.parse(text ?? ''));
}

/** Undefined for what no year of a date holds. */
function instantAt(ms: number): string | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** The instant just before: what was written at one shows from then on. */
export function justBefore(at: string): string {
  return new Date(Date.parse(at) - 1).toISOString();
}

/**
 * What an input of the kind `datetime-local` holds for an instant, to the second; empty for a text that is none.
 *
 * @param timeZone whose clocks it shows; unless given, that of the viewer
 */
export function localText(at: string, timeZone = zone()): string {
  return instantAt(wallTime(Date.parse(at), timeZone))?.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length) ?? '';
}

/** The instant of such an input. */
export function instantOfLocal(text: string, timeZone = zone()): string | undefined {
  const wall = text === '' ? undefined : instantOf(`${text}Z`);
  return wall && instantAt(instantOfWall(Date.parse(wall), timeZone));
}

/** The zone that times are shown and typed in. */
export function zone(): string {
  return isUtc.value ? 'UTC' : browserZone;
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export function ago(ms: number): string {
  return new Date(Date.now() - ms).toISOString();
}
