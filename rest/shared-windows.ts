import type { Clock, Log } from '../core/base/ports.ts';
import type { SharedCounts } from '../core/base/shared.ts';
import { boundedWindows, type RateWindow, type RateWindows } from './rate-windows.ts';

/** Interval at which counts are sent to the other control planes, ms. */
export const SEND_INTERVAL_MS = 250;
/** Counts below a limit divided by this are not sent: most callers stay below it, and nothing is written for them. */
const UNSENT_PART = 64;
/** Keys in one round; the others have the next. */
const MAX_SENT = 1_000;
/** After a round that failed; until then each control plane holds the limits by itself. */
const RETRY_MS = 5_000;

export interface SharedWindows {
  windows(name: string, windowMs: number, maxKeys: number): RateWindows;
  /** By the clock that all go by. */
  now(): number;
  /** Tells the others, and learns what they have counted. */
  tell(): Promise<void>;
  stop(): void;
}

interface SentCount {
  readonly window: RateWindow;
  readonly limit: number;
  /** The part of the local count that has been sent. */
  count: number;
}

/**
 * Windows that all control planes fill together. They begin at the same instants everywhere. What this one has counted is
 * gathered and told in rounds, so that no request waits; a limit is passed by what the others let in within a round, and by a
 * part of it that is not told.
 */
export function shareWindows(counts: SharedCounts, clock: Clock, log: Pick<Log, 'warn'>): SharedWindows {
  const asked = new Map<string, SentCount>();
  let failed = false;
  let resumesAt = 0;
  let round: Promise<void> | undefined;
  const timer = setInterval(() => {
    if (performance.now() >= resumesAt) void tell();
  }, SEND_INTERVAL_MS);
  timer.unref();

  function tell(): Promise<void> {
    round ??= tellOnce().finally(() => {
      round = undefined;
    });
    return round;
  }

  async function tellOnce(): Promise<void> {
    const told = new Map<string, { readonly one: SentCount; readonly more: number }>();
    for (const [key, one] of [...asked].slice(0, MAX_SENT)) {
      asked.delete(key);
      // Past the limit there is nothing to tell, and nothing to learn.
      const more = Math.min(one.window.count, one.limit) - one.count;
      if (more > 0) told.set(key, { one, more });
    }
    if (told.size === 0) return;
    const end = Math.max(...[...told.values()].map(({ one }) => one.window.resetAt));
    try {
      const totals = await counts.add(new Map([...told].map(([key, { more }]) => [key, more])), end);
      for (const [key, { one, more }] of told) {
        one.count += more;
        one.window.others = Math.max(0, (totals.get(key) ?? one.count) - one.count);
      }
      failed = false;
    } catch (error) {
      if (!failed) log.warn({ err: error }, 'the limits of requests are held by each control plane alone');
      failed = true;
      resumesAt = performance.now() + RETRY_MS;
    }
  }

  return {
    windows(name, windowMs, maxKeys) {
      const kept = boundedWindows(maxKeys, (now) => (Math.floor(now / windowMs) + 1) * windowMs);
      const tellers = new WeakMap<RateWindow, SentCount>();
      return {
        at(key, limit, now) {
          const window = kept.at(key, now);
          if (window.count < limit / UNSENT_PART) return window;
          const told = tellers.get(window) ?? { window, limit, count: 0 };
          tellers.set(window, told);
          asked.set(`${name} ${window.resetAt} ${key}`, told);
          return window;
        },
      };
    },
    now: () => clock.now(),
    tell,
    stop() {
      clearInterval(timer);
    },
  };
}
