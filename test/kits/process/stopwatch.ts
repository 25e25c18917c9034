/** Milliseconds since now, for figures: no test is held to them (test/timing.test.ts). */
export function stopwatch(): () => number {
  const begun = performance.now();
  return () => Math.round(performance.now() - begun);
}
