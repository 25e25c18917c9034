export interface RateWindow {
  /** The count of this control plane. */
  count: number;
  /** The count of the other control planes, as far as this one knows. */
  others: number;
  /** Milliseconds, by the clock of `now`. */
  readonly resetAt: number;
}

export interface RateWindows {
  /** Returns the counts of a key in the current window; `limit` is the limit that applies to the key. */
  at(key: string, limit: number, now: number): RateWindow;
}

/** Fixed windows by key; of the keys a bounded number, past which the one whose window opened longest ago makes room. */
export function createRateWindows(windowMs: number, maxKeys: number): RateWindows {
  const windows = boundedWindows(maxKeys, (now) => now + windowMs);
  return { at: (key, _limit, now) => windows.at(key, now) };
}

/** As many windows as that, each from its first look until what `endOf` says. */
export function boundedWindows(maxKeys: number, endOf: (now: number) => number) {
  // A Map keeps insertion order.
  const windows = new Map<string, RateWindow>();
  return {
    at(key: string, now: number): RateWindow {
      const known = windows.get(key);
      if (known && known.resetAt > now) return known;
      windows.delete(key);
      if (windows.size >= maxKeys) for (const oldest of windows.keys()) if (windows.delete(oldest)) break;
      const fresh = { count: 0, others: 0, resetAt: endOf(now) };
      windows.set(key, fresh);
      return fresh;
    },
  };
}
