// biome-ignore-all lint/style/noRestrictedGlobals: conversions of given instants; nothing here reads the clock.

/** ISO 8601 UTC with milliseconds, as every answer writes instants. */
export function formatInstant(ms: number): string {
  return new Date(ms).toISOString();
}

/** The same for sentences: whole seconds. */
export function formatSecond(ms: number): string {
  return formatInstant(ms).replace(/\.\d+Z$/, 'Z');
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
