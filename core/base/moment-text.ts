import { z } from 'zod';
import { parseDuration } from './duration.ts';
import { instantText } from './text.ts';
import { formatInstant, parseInstant } from './time.ts';
import { instantOfWall, wallTime } from './time-zone.ts';

const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d\d-\d\d$/;
const AGO = / ago$/;

/** Schemas of fields that name a moment of the past: `invoke` turns words in them into instants. */
export const momentSchemas = z.registry<{ readonly isMoment: true }>();

/** An instant of the past, or a moment in words, which is an instant by the time that this parses it. */
export const pastInstant = instantText(
  'An ISO 8601 instant such as 2026-01-31T12:00:00Z, a day (2026-01-31, yesterday), or how long ago: 2h.',
).register(momentSchemas, { isMoment: true });

/** Which end of a day a field means. */
export type DayEdge = 'begin' | 'end';

/** Fields that name an end: of a day they take its last moment, others its first. */
const ENDS: ReadonlySet<string> = new Set(['to', 'until', 'period_end']);

export function dayEdgeOf(field: string): DayEdge {
  return ENDS.has(field) ? 'end' : 'begin';
}

/** Returns true for a moment in words, such as `yesterday` or `2h`; false for an instant. */
export function isMomentInWords(text: string): boolean {
  return isDayInWords(text) || agoOf(text) !== undefined;
}

/** Returns true for a text in the form of a day, even an impossible one such as 2026-02-31. */
export function isDayInWords(text: string): boolean {
  return text === 'yesterday' || text === 'today' || DAY.test(text);
}

/**
 * The instant of a moment in words: `yesterday` and `2026-01-31` are days by the clocks of a time zone, `2h` and `2h ago` count
 * back from now. A day that lasts ends now.
 *
 * @param now ms
 * @returns ms; undefined for any other text, and for a day that no calendar has
 */
export function momentOfWords(
  text: string,
  { now, timeZone, edge }: { readonly now: number; readonly timeZone: string; readonly edge: DayEdge },
): number | undefined {
  const ago = agoOf(text);
  if (ago !== undefined) return ago <= now ? now - ago : undefined;
  const day = dayOf(text, wallTime(now, timeZone));
  if (day === undefined) return undefined;
  if (edge === 'begin') return instantOfWall(day, timeZone);
  const end = instantOfWall(day + DAY_MS, timeZone);
  return instantOfWall(day, timeZone) <= now ? Math.min(now, end) : end;
}

function agoOf(text: string): number | undefined {
  return parseDuration(text.replace(AGO, ''));
}

/** The begin of a day, in wall time. */
function dayOf(text: string, wall: number): number | undefined {
  const today = Math.floor(wall / DAY_MS) * DAY_MS;
  if (text === 'today') return today;
  if (text === 'yesterday') return today - DAY_MS;
  const begin = DAY.test(text) ? parseInstant(text) : Number.NaN;
  // The engine takes the 30th of February for the 2nd of March.
  return !Number.isNaN(begin) && formatInstant(begin).startsWith(text) ? begin : undefined;
}
