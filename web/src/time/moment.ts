import { browserZone, isUtc } from './zone.ts';

/** Instants in addresses are as the API writes them: `2026-01-31T12:00:00.000Z`. */

/** A text that names an instant, as the API writes it; undefined for any other. */
export function instantOf(text: string | null | undefined): string | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** The instant just before: what was written at one shows from then on. */
export function justBefore(at: string): string {
  return new Date(Date.parse(at) - 1).toISOString();
}

/** What an input of the kind `datetime-local` holds for an instant: in the viewer's zone, to the second. */
export function localText(at: string): string {
  const time = new Date(at);
  if (isUtc.value) return time.toISOString().slice(0, 19);
  const two = (value: number) => String(value).padStart(2, '0');
  const date = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-');
  return `${date}T${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')}`;
}

/** The instant of such an input. */
export function instantOfLocal(text: string): string | undefined {
  return text === '' ? undefined : instantOf(isUtc.value ? `${text}Z` : text);
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
