import { MeshError } from '../base/errors.ts';
import { isLoopback } from '../base/origin.ts';
import type { Clock } from '../base/ports.ts';
import type { LoginLock } from '../model/services.ts';
import type { SignInRules } from '../model/sign-in-rules.ts';

/** Locks double up to this, so that a code of six digits is not found in years of guessing. */
const LONGEST_LOCK_MS = 24 * 3_600_000;
/** What failed longer ago is forgotten. */
const QUIET_MS = 24 * 3_600_000;
/** Names remembered that have no account, and names that have one; the longest known make room. */
const MAX_STRANGERS = 10_000;
const MAX_ACCOUNTS = 100_000;
/** Everywhere that the account did not sign in from before. */
const ELSEWHERE = '*';

interface Tries {
  /** In a row, since the last lock. */
  failures: number;
  /** In a row. */
  locks: number;
  lockedUntil: number;
  lastAt: number;
}

type OfName = Map<string, Tries>;

/** Failed logins in a row for one account from one place; enough of them lock it there (docs/decisions/0095-lock-by-place.md). */
export interface LoginLocks {
  /** @throws MeshError `rate_limited` while the account is locked for this source */
  refuseLocked(username: string, source: string, knownSources: readonly string[] | undefined): void;
  /** Counts an attempt, which may lock. */
  count(username: string, source: string, knownSources: readonly string[] | undefined): CountedTry;
  locksOf(username: string): readonly LoginLock[];
  lift(username: string): number;
}

export interface CountedTry {
  readonly lockedUntil: number | undefined;
  /** What failed there is forgotten. */
  clear(): void;
  takeBack(): void;
}

/** Locks kept in this process's memory, for names with and without an account alike. */
export function buildLoginLocks(
  clock: Clock,
  { lockAfter, lockMs }: Pick<SignInRules, 'lockAfter' | 'lockMs'>,
): LoginLocks {
  // Apart, so that a flood of made-up names does not make room by forgetting who guesses at an account.
  const strangers = new Map<string, OfName>();
  const accounts = new Map<string, OfName>();

  function find(username: string, place: string, isAccount: boolean): Tries | undefined {
    const found = (isAccount ? accounts : strangers).get(username)?.get(place);
    return found && clock.now() < Math.max(found.lastAt, found.lockedUntil) + QUIET_MS ? found : undefined;
  }

  function keep(username: string, place: string, isAccount: boolean, tries: Tries): void {
    const [names, most] = isAccount ? [accounts, MAX_ACCOUNTS] : [strangers, MAX_STRANGERS];
    const ofName = names.get(username) ?? new Map<string, Tries>();
    names.delete(username);
    if (names.size >= most) {
      const [oldest] = names.keys();
      if (oldest !== undefined) names.delete(oldest);
    }
    names.set(username, ofName.set(place, tries));
  }

  return {
    refuseLocked(username, source, knownSources) {
      const tries = find(username, placeOf(source, knownSources), knownSources !== undefined);
      const now = clock.now();
      if (!tries || now >= tries.lockedUntil) return;
      const retryAfterSeconds = Math.max(1, Math.ceil((tries.lockedUntil - now) / 1_000));
      const message =
        `Too many failed logins in a row: this account is locked here for ${wordsOf(retryAfterSeconds)}. ` +
        'Wait, sign in from where you did before, or ask a platform administrator to unlock it.';
      throw new MeshError('rate_limited', message, { retryAfterSeconds });
    },

    count(username, source, knownSources) {
      const isAccount = knownSources !== undefined;
      const place = placeOf(source, knownSources);
      const now = clock.now();
      const before = find(username, place, isAccount) ?? { failures: 0, locks: 0, lockedUntil: 0, lastAt: now };
      const tries = { ...before, failures: before.failures + 1, lastAt: now };
      const locks = tries.failures >= lockAfter;
      if (locks) {
        tries.lockedUntil = now + Math.min(lockMs * 2 ** Math.min(tries.locks, 30), Math.max(lockMs, LONGEST_LOCK_MS));
        tries.locks += 1;
        tries.failures = 0;
      }
      keep(username, place, isAccount, tries);
      const ofName = () => (isAccount ? accounts : strangers).get(username);
      return {
        lockedUntil: locks ? tries.lockedUntil : undefined,
        clear: () => void ofName()?.delete(place),
        takeBack() {
          const current = ofName()?.get(place);
          if (!current) return;
          if (locks) ofName()?.set(place, { ...before, failures: lockAfter - 1 });
          else current.failures = Math.max(0, current.failures - 1);
        },
      };
    },

    locksOf(username) {
      const now = clock.now();
      return [...(accounts.get(username) ?? [])]
        .filter(([, { lockedUntil }]) => now < lockedUntil)
        .map(([place, { lockedUntil: until }]) => (place === ELSEWHERE ? { until } : { source: place, until }));
    },

    lift(username) {
      const count = this.locksOf(username).length;
      accounts.delete(username);
      return count;
    },
  };
}

/** Each network that an account signed in from, and this machine, is counted by itself; all else as one. */
function placeOf(source: string, knownSources: readonly string[] | undefined): string {
  return isKnownSource(source, knownSources) ? source : ELSEWHERE;
}

/** Whether an account signed in from there before, or it is this machine. */
export function isKnownSource(source: string, knownSources: readonly string[] | undefined): boolean {
  return isLoopback(source) || (knownSources?.includes(source) ?? false);
}

function wordsOf(seconds: number): string {
  if (seconds < 120) return `${seconds} seconds`;
  if (seconds < 7_200) return `${Math.ceil(seconds / 60)} minutes`;
  return `${Math.ceil(seconds / 3_600)} hours`;
}
