import { formatInstant, parseInstant } from './time.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** 1970-01-01 was a Thursday. */
const WEEKDAYS = ['Thursday', 'Friday', 'Saturday', 'Sunday', 'Monday', 'Tuesday', 'Wednesday'];

/**
 * The instant of a wall time. One that is skipped as clocks go forward counts from the instant they jump; of one that
 * comes twice the first counts.
 */
export function instantOfWall(wall: number, timeZone: string): number {
  return instantsOfWall(wall, timeZone)[0] ?? wall - offsetAt(wall - DAY_MS, timeZone);
}

/** The instants at which the clocks of a time zone show a wall time: none where they skip it, two where it comes twice. */
export function instantsOfWall(wall: number, timeZone: string): number[] {
  const offsets = [wall - DAY_MS, wall + DAY_MS].map((at) => offsetAt(at, timeZone));
  const found = new Set(offsets.map((offset) => wall - offset));
  return [...found].filter((at) => at + offsetAt(at, timeZone) === wall).sort((a, b) => a - b);
}

/** `Tuesday 2026-01-06 03:00`, by the clocks of a zone. */
export function clockText(at: number, timeZone: string): string {
  const wall = wallTime(at, timeZone);
  const text = formatInstant(wall);
  const seconds = wall % MINUTE_MS === 0 ? '' : text.slice(16, 19);
  const weekday = WEEKDAYS[modulo(Math.floor(wall / DAY_MS), WEEKDAYS.length)] ?? '';
  return `${weekday} ${text.slice(0, 10)} ${text.slice(11, 16)}${seconds}`;
}

/** `Tuesday 2026-01-06 03:00 Europe/Berlin`. */
export function zonedText(at: number, timeZone: string): string {
  return `${clockText(at, timeZone)} ${timeZone}`;
}

/** Names found to be time zones; asking costs 100 microseconds. */
const knownZones = new Set<string>(['UTC']);

/** Returns true if a name is in the IANA database, or an offset such as `+02:00`. */
export function isTimeZone(name: string): boolean {
  if (knownZones.has(name)) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    if (knownZones.size < MAX_FORMATS) knownZones.add(name);
    return true;
  } catch {
    return false;
  }
}

/** Returns the local time of a time zone at an instant, written as if it were UTC. */
export function wallTime(at: number, timeZone: string): number {
  return at + offsetAt(at, timeZone);
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** Zones whose formatter is kept; there are about 600. */
const MAX_FORMATS = 1_000;

function offsetAt(at: number, timeZone: string): number {
  let format = formats.get(timeZone);
  if (!format) {
    const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      calendar: 'iso8601',
      ...fields,
      second: 'numeric',
    });
    if (formats.size >= MAX_FORMATS) formats.clear();
    formats.set(timeZone, format);
  }
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes, width = 2) => (parts.get(type) ?? '').padStart(width, '0');
  const day = `${part('year', 4)}-${part('month')}-${part('day')}`;
  const wall = parseInstant(`${day}T${part('hour')}:${part('minute')}:${part('second')}Z`);
  return wall - (at - modulo(at, 1_000));
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
