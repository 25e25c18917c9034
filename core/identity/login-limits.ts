import { MeshError } from '../base/errors.ts';
import type { Clock } from '../base/ports.ts';
import type { LoginLimits } from '../model/services.ts';
import type { SignInRules } from '../model/sign-in-rules.ts';
import { sourceNetwork } from '../model/source-network.ts';
import { buildLoginLocks } from './login-locks.ts';

const WINDOW_MS = 60_000;
/** Failed logins in a window from one address for one account (docs/accounts-and-tokens.md#limits). */
const PER_ACCOUNT = 5;
/** Failed logins in a window from one address, whatever the accounts. */
const PER_ADDRESS = 30;
/** Of an IPv6 address: the network of a household. */
const HOUSEHOLD_BITS = 64;
/** Sources remembered; the longest known make room, so that a flood of sources costs no memory. */
const MAX_SOURCES = 10_000;

/** What counts as one place that logins come from. */
export function loginSource(origin: string): string {
  return sourceNetwork(origin, HOUSEHOLD_BITS);
}

/** Limits kept in this process's memory. */
export function buildLoginLimits(clock: Clock, rules: Pick<SignInRules, 'lockAfter' | 'lockMs'>): LoginLimits {
  const locks = buildLoginLocks(clock, rules);
  const attempts = new Map<string, number[]>();

  function recent(key: string, now: number): number[] {
    const times = (attempts.get(key) ?? []).filter((at) => at > now - WINDOW_MS);
    attempts.delete(key);
    return times;
  }

  function keep(key: string, times: number[]): void {
    if (times.length === 0) return;
    if (attempts.size >= MAX_SOURCES) {
      const [oldest] = attempts.keys();
      if (oldest !== undefined) attempts.delete(oldest);
    }
    attempts.set(key, times);
  }

  return {
    attempt(origin, username, knownSources) {
      const now = clock.now();
      const source = loginSource(origin);
      locks.refuseLocked(username, source, knownSources);
      const bounds = [
        [`${source} ${username}`, PER_ACCOUNT],
        [source, PER_ADDRESS],
      ] as const;
      const counted = bounds.map(([key, limit]) => ({ key, limit, times: recent(key, now) }));
      const full = counted.filter(({ limit, times }) => times.length >= limit);
      for (const { key, times } of counted) keep(key, full.length === 0 ? [...times, now] : times);
      if (full.length > 0) {
        const freeAt = Math.max(...full.map(({ limit, times }) => (times[times.length - limit] ?? now) + WINDOW_MS));
        const retryAfterSeconds = Math.max(1, Math.ceil((freeAt - now) / 1_000));
        const message = `Too many failed logins: try again in ${retryAfterSeconds} seconds.`;
        throw new MeshError('rate_limited', message, { retryAfterSeconds });
      }
      const tried = locks.count(username, source, knownSources);
      function forgetThis(): void {
        for (const { key } of counted) {
          const times = [...(attempts.get(key) ?? [])];
          const index = times.indexOf(now);
          if (index >= 0) times.splice(index, 1);
          attempts.delete(key);
          keep(key, times);
        }
      }
      return {
        lockedUntil: tried.lockedUntil,
        incomplete: tried.takeBack,
        passed() {
          tried.takeBack();
          forgetThis();
        },
        succeeded() {
          tried.clear();
          forgetThis();
        },
      };
    },
    locksOf: locks.locksOf,
    lift: (username) => locks.lift(username),
  };
}
