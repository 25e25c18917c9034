import { parseInstant } from './time.ts';

const DAY_MS = 86_400_000;

/**
 * The instant of a wall time. One that is skipped as clocks go forward counts from the instant they jump; of one that
 * comes twice the first counts.
 */
export function instantOfWall(wall: number, timeZone: string): number {
  const before = wall - offsetAt(wall - DAY_MS, timeZone);
  const after = wall - offsetAt(wall + DAY_MS, timeZone);
  const found = [before, after].filter((at) => at + offsetAt(at, timeZone) === wall);
  return found.length > 0 ? Math.min(...found) : before;
}

/** What the clocks of a time zone show at an instant, written as if it were UTC. */
export function wallTime(at: number, timeZone: string): number {
  return at + offsetAt(at, timeZone);
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** Zones whose formatter is kept; there are about 600. */
const KEPT_FORMATS = 1_000;

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
    if (formats.size >= KEPT_FORMATS) formats.clear();
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
