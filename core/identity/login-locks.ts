import { hash } from 'node:crypto';
import { z } from 'zod';
import { MeshError } from '../base/errors.ts';
import { isLoopback } from '../base/origin.ts';
import type { Clock } from '../base/ports.ts';
import type { Cell, Cells } from '../base/shared.ts';
import type { LoginLock } from '../model/services.ts';
import type { SignInRules } from '../model/sign-in-rules.ts';

/** Locks double up to this, so that a code of six digits is not found in years of guessing. */
const LONGEST_LOCK_MS = 24 * 3_600_000;
/** What failed longer ago is forgotten. */
const QUIET_MS = 24 * 3_600_000;
/** Everywhere that the account did not sign in from before. */
const ELSEWHERE = '*';

const triesSchema = z.object({
  /** In a row, since the last lock. */
  failures: z.int(),
  /** In a row. */
  locks: z.int(),
  lockedUntil: z.int(),
  lastAt: z.int(),
});
type Tries = z.infer<typeof triesSchema>;

/** By place, what was tried for one name. */
export const triedSchema = z.record(z.string(), triesSchema);
export type Tried = z.infer<typeof triedSchema>;

/** Failed logins in a row for one account from one place; enough of them lock it there (docs/decisions/0095-lock-by-place.md). */
export interface LoginLocks {
  /** @throws MeshError `rate_limited` while the account is locked for this source */
  refuseLocked(username: string, source: string, knownSources: readonly string[] | undefined): Promise<void>;
  /** Counts an attempt, which may lock. @throws MeshError `rate_limited` as `refuseLocked`, counting nothing */
  count(username: string, source: string, knownSources: readonly string[] | undefined): Promise<CountedTry>;
  locksOf(usernames: readonly string[]): Promise<ReadonlyMap<string, readonly LoginLock[]>>;
  lift(username: string): Promise<number>;
}

export interface CountedTry {
  readonly lockedUntil: number | undefined;
  /** What failed there is forgotten. */
  clear(): Promise<void>;
  takeBack(): Promise<void>;
}

/**
 * Names with an account, and names without. Apart, so that a flood of made-up names does not make room by forgetting who
 * guesses at an account.
 */
export type TriedCells = Readonly<Record<'accounts' | 'strangers', Cells<Tried>>>;

export function buildLoginLocks(
  clock: Clock,
  { lockAfter, lockMs }: Pick<SignInRules, 'lockAfter' | 'lockMs'>,
  { accounts, strangers }: TriedCells,
): LoginLocks {
  const cellsFor = (knownSources: readonly string[] | undefined) => (knownSources ? accounts : strangers);

  function triesAt(cell: Cell<Tried> | undefined, place: string): Tries | undefined {
    const found = cell?.value[place];
    return found && clock.now() < endOf(found) ? found : undefined;
  }

  /** @throws MeshError `rate_limited` */
  function refuse(tries: Tries | undefined): void {
    const now = clock.now();
    if (!tries || now >= tries.lockedUntil) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((tries.lockedUntil - now) / 1_000));
    const message =
      `Too many failed logins in a row: this account is locked here for ${wordsOf(retryAfterSeconds)}. ` +
      'Wait, sign in from where you did before, or ask a platform administrator to unlock it.';
    throw new MeshError('rate_limited', message, { retryAfterSeconds });
  }

  function failed(before: Tries, now: number): Tries {
    const tries = { ...before, failures: before.failures + 1, lastAt: now };
    if (tries.failures < lockAfter) return tries;
    const lastsMs = Math.min(lockMs * 2 ** Math.min(tries.locks, 30), Math.max(lockMs, LONGEST_LOCK_MS));
    return { ...tries, failures: 0, locks: tries.locks + 1, lockedUntil: now + lastsMs };
  }

  function locksIn(cell: Cell<Tried> | undefined): readonly LoginLock[] {
    const now = clock.now();
    return Object.entries(cell?.value ?? {})
      .filter(([, { lockedUntil }]) => now < lockedUntil)
      .map(([place, { lockedUntil: until }]) => (place === ELSEWHERE ? { until } : { source: place, until }));
  }

  return {
    async refuseLocked(username, source, knownSources) {
      const key = nameKey(username);
      const cell = (await cellsFor(knownSources).read([key])).get(key);
      refuse(triesAt(cell, placeOf(source, knownSources)));
    },

    async count(username, source, knownSources) {
      const [cells, key, place] = [cellsFor(knownSources), nameKey(username), placeOf(source, knownSources)];
      const counted = await cells.change(key, (cell) => {
        const now = clock.now();
        const known = triesAt(cell, place);
        refuse(known);
        const before = known ?? { failures: 0, locks: 0, lockedUntil: 0, lastAt: now };
        const tries = failed(before, now);
        return { cell: cellWith(cell, place, tries), result: { before, tries } };
      });
      const locks = counted.tries.failures === 0;
      const set = (change: (current: Tries) => Tries | undefined) =>
        cells.change(key, (cell) => {
          const current = cell?.value[place];
          return { cell: current ? cellWith(cell, place, change(current)) : cell, result: undefined };
        });
      return {
        lockedUntil: locks ? counted.tries.lockedUntil : undefined,
        clear: () => set(() => undefined),
        takeBack: () =>
          set((current) =>
            locks
              ? { ...counted.before, failures: lockAfter - 1 }
              : { ...current, failures: Math.max(0, current.failures - 1) },
          ),
      };
    },

    async locksOf(usernames) {
      const found = await accounts.read(usernames.map(nameKey));
      return new Map(usernames.map((name) => [name, locksIn(found.get(nameKey(name)))]));
    },

    lift: (username) =>
      accounts.change(nameKey(username), (cell) => ({ cell: undefined, result: locksIn(cell).length })),
  };
}

/** Until when something is remembered of it. */
function endOf({ lastAt, lockedUntil }: Tries): number {
  return Math.max(lastAt, lockedUntil) + QUIET_MS;
}

function cellWith(cell: Cell<Tried> | undefined, place: string, tries: Tries | undefined): Cell<Tried> | undefined {
  const { [place]: _, ...others } = cell?.value ?? {};
  const value = tries ? { ...others, [place]: tries } : others;
  const all = Object.values(value);
  return all.length === 0 ? undefined : { value, expiresAt: Math.max(...all.map(endOf)) };
}

/** What somebody typed as a name may be a password. */
export function nameKey(username: string): string {
  return hash('sha256', username, 'base64url');
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
