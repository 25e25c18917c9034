/** Milliseconds since the epoch as they were when this thread started, and what has passed since: nobody sets it. */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}
