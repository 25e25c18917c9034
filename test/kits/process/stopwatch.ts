import { expect } from 'vitest';

/** Milliseconds since now, for figures: only the long run asserts them. */
export function stopwatch(): () => number {
  const begun = performance.now();
  return () => Math.round(performance.now() - begun);
}

/** How long something took, which is held in the long run alone: that has the machine to itself. */
export function expectWithin(took: number, ms: number): void {
  if (process.env['MESH_LONG'] === '1') expect(took).toBeLessThan(ms);
}
