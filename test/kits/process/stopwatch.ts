/** Milliseconds since now, for figures: no test is held to them but in the long run (test/timing.test.ts). */
export function stopwatch(): () => number {
  const begun = performance.now();
  return () => Math.round(performance.now() - begun);
}
