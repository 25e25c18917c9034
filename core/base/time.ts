// biome-ignore-all lint/style/noRestrictedGlobals: conversions of given instants; nothing here reads the clock.

/** ISO 8601 UTC with milliseconds, as every answer writes instants. */
export function formatInstant(ms: number): string {
  return new Date(ms).toISOString();
}

/** Milliseconds of an ISO 8601 instant; NaN when the text is none. */
export function parseInstant(text: string): number {
  return Date.parse(text);
}
