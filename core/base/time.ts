// biome-ignore-all lint/style/noRestrictedGlobals: conversions of given instants; nothing here reads the clock.

/** ISO 8601 UTC with milliseconds, as every answer writes instants. */
export function formatInstant(ms: number): string {
  return new Date(ms).toISOString();
}

/** The same for sentences: whole seconds. */
export function formatSecond(ms: number): string {
  return formatInstant(ms).replace(/\.\d+Z$/, 'Z');
}

/** The last instant that ISO 8601 writes with four digits of a year: in an answer, the end of what has none. */
export const MAX_INSTANT = 253_402_300_799_999;

/** Writes an instant for a record: a later one, as by an offset, could not be read again. */
export function formatWritable(ms: number): string {
  return formatInstant(Math.min(ms, MAX_INSTANT));
}

/**
 * Returns true where the time of a record is over at `now`, in milliseconds: at its very end it is. An end that cannot be
 * read has passed; a record without an end has none.
 *
 * @param spec has the end as an ISO 8601 instant or in milliseconds
 */
export function hasEnded({ expiresAt }: { readonly expiresAt?: string | number | undefined }, now: number): boolean {
  if (expiresAt === undefined) return false;
  return !((typeof expiresAt === 'string' ? parseInstant(expiresAt) : expiresAt) > now);
}

/** Milliseconds of an ISO 8601 instant; NaN when the text is none. */
export function parseInstant(text: string): number {
  return Date.parse(text);
}
