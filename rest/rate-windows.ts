export interface RateWindow {
  count: number;
  /** Milliseconds, by the clock of `now`. */
  readonly resetAt: number;
}

export interface RateWindows {
  /** What was counted under a key in the window that is open now. */
  at(key: string, now: number): RateWindow;
}

/** Fixed windows by key; of the keys a bounded number, past which the one whose window opened longest ago makes room. */
export function createRateWindows(windowMs: number, maxKeys: number): RateWindows {
  // A Map keeps insertion order.
  const windows = new Map<string, RateWindow>();
  return {
    at(key, now) {
      const known = windows.get(key);
      if (known && known.resetAt > now) return known;
      windows.delete(key);
      if (windows.size >= maxKeys) for (const oldest of windows.keys()) if (windows.delete(oldest)) break;
      const fresh = { count: 0, resetAt: now + windowMs };
      windows.set(key, fresh);
      return fresh;
    },
  };
}
