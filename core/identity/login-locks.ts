import { hash } from 'node:crypto';
import { z } from 'zod';
import { MeshError } from '../base/errors.ts';
import { isLoopback } from '../base/loopback.ts';
import type { Clock } from '../base/ports.ts';
import type { Cell, Cells } from '../base/shared.ts';
import type { LoginLock } from '../model/services.ts';
import type { SignInRules } from '../model/sign-in-rules.ts';
import { returnAttempt, takeAttempt } from './login-pace.ts';

/** Locks double up to this, so that a code of six digits is not found in years of guessing. */
const LONGEST_LOCK_MS = 24 * 3_600_000;
/** Failures that are older are forgotten. */
const QUIET_MS = 24 * 3_600_000;
/** Addresses remembered for one name, besides those that it signed in from; the one that was quiet for longest makes room. */
const MAX_ADDRESSES = 64;

const sourceAttemptsSchema = z.object({
  /** In a row, since the last lock. */
  failures: z.int(),
  /** In a row. */
  locks: z.int(),
  lockedUntil: z.int(),
  lastAt: z.int(),
});
type SourceAttempts = z.infer<typeof sourceAttemptsSchema>;

export const nameAttemptsSchema = z.object({
  /** By address. */
  places: z.record(z.string(), sourceAttemptsSchema.extend({ site: z.string() })),
  /** Tries of one-time codes, after the right password, from all addresses that the account never signed in from. */
  codes: sourceAttemptsSchema.optional(),
  /** Instant at which new addresses have all their tries again. */
  spentUntil: z.int(),
});
/** Everything that was tried for one name. */
export type NameAttempts = z.infer<typeof nameAttemptsSchema>;

const NOTHING: NameAttempts = { places: {}, spentUntil: 0 };

/** Where a try comes from. */
export interface AttemptSource {
  /** An address, or the network of a household. */
  readonly source: string;
  /** The network of a site, which `source` is part of. */
  readonly site: string;
  /** Networks that the account signed in from; undefined where the name has no account. */
  readonly knownSources: readonly string[] | undefined;
}

/**
 * Failed logins in a row for one account from one address lock it there. From addresses that the account never signed in from
 * it is tried at a bounded pace, and never locked (docs/decisions/0158-pace-for-new-addresses.md).
 */
export interface LoginLocks {
  /** @throws MeshError `rate_limited` while the account is locked for this source */
  refuseLocked(username: string, place: AttemptSource): Promise<void>;
  /** Counts a try of a password, which may lock. @throws MeshError `rate_limited` as `refuseLocked` or for the pace, counting nothing */
  count(username: string, place: AttemptSource): Promise<CountedAttempt>;
  /** Counts a try of a one-time code after the right password, which may lock. @throws MeshError `rate_limited`, counting nothing */
  countCode(username: string, place: AttemptSource): Promise<CountedAttempt>;
  locksOf(usernames: readonly string[]): Promise<ReadonlyMap<string, readonly LoginLock[]>>;
  lift(username: string): Promise<number>;
}

export interface CountedAttempt {
  readonly lockedUntil: number | undefined;
  /** Forgets all failures there. */
  clear(): Promise<void>;
  takeBack(): Promise<void>;
}

/**
 * Names with an account, and names without. Apart, so that a flood of made-up names does not make room by forgetting who
 * guesses at an account.
 */
export type AttemptCells = Readonly<Record<'accounts' | 'strangers', Cells<NameAttempts>>>;

/** A code from a known address counts as every failed login there. */
const NO_ATTEMPT: CountedAttempt = { lockedUntil: undefined, clear: async () => {}, takeBack: async () => {} };

export function buildLoginLocks(
  clock: Clock,
  { lockAfter, lockMs }: Pick<SignInRules, 'lockAfter' | 'lockMs'>,
  { accounts, strangers }: AttemptCells,
): LoginLocks {
  const cellsFor = ({ knownSources }: AttemptSource) => (knownSources ? accounts : strangers);

  function triesIn(tries: SourceAttempts | undefined): SourceAttempts {
    const now = clock.now();
    return tries && now < endOf(tries) ? tries : { failures: 0, locks: 0, lockedUntil: 0, lastAt: now };
  }

  /** @throws MeshError `rate_limited` */
  function refuse({ lockedUntil }: SourceAttempts, what: 'logins' | 'codes'): void {
    const now = clock.now();
    if (now >= lockedUntil) return;
    const retryAfterSeconds = secondsOf(lockedUntil - now);
    const message =
      `Too many failed ${what} in a row: this account is locked here for ${wordsOf(retryAfterSeconds)}. ` +
      'Wait, sign in from where you did before, or ask a platform administrator to unlock it.';
    throw new MeshError('rate_limited', message, { retryAfterSeconds });
  }

  function failed(before: SourceAttempts): SourceAttempts {
    const now = clock.now();
    const tries = { ...before, failures: before.failures + 1, lastAt: now };
    if (tries.failures < lockAfter) return tries;
    const lastsMs = Math.min(lockMs * 2 ** Math.min(tries.locks, 30), Math.max(lockMs, LONGEST_LOCK_MS));
    return { ...tries, failures: 0, locks: tries.locks + 1, lockedUntil: now + lastsMs };
  }

  /** @returns `spentUntil` with a try for a site. @throws MeshError `rate_limited` */
  function pacedFor({ places, spentUntil }: NameAttempts, site: string): number {
    const ofSite = Object.values(places).filter((each) => each.site === site);
    const failures = ofSite.reduce((sum, each) => sum + each.failures + each.locks * lockAfter, 0);
    const taken = takeAttempt(spentUntil, failures, clock.now());
    if (taken.waitMs > 0) throw tooManyAttempts(taken.waitMs);
    return taken.spentUntil;
  }

  /** @param set changes what is counted at the place of the try, where anything is */
  function countedTry(
    { before, tries }: { readonly before: SourceAttempts; readonly tries: SourceAttempts },
    set: (change: (current: SourceAttempts) => SourceAttempts | undefined) => Promise<void>,
  ): CountedAttempt {
    const locks = tries.failures === 0;
    return {
      lockedUntil: locks ? tries.lockedUntil : undefined,
      clear: () => set(() => undefined),
      takeBack: () =>
        set((current) =>
          locks ? { ...before, failures: lockAfter - 1 } : { ...current, failures: Math.max(0, current.failures - 1) },
        ),
    };
  }

  function locksIn(cell: Cell<NameAttempts> | undefined): readonly LoginLock[] {
    const now = clock.now();
    const { places = {}, codes } = cell?.value ?? {};
    const locks = [
      ...Object.entries(places).map(([source, { lockedUntil: until }]) => ({ source, until })),
      ...(codes ? [{ until: codes.lockedUntil }] : []),
    ];
    return locks.filter(({ until }) => now < until);
  }

  return {
    async refuseLocked(username, place) {
      const key = nameKey(username);
      const cell = (await cellsFor(place).read([key])).get(key);
      refuse(triesIn(cell?.value.places[place.source]), 'logins');
    },

    async count(username, place) {
      const [cells, key, { source, site }] = [cellsFor(place), nameKey(username), place];
      const isPaced = !isKnownSource(source, place.knownSources);
      const counted = await cells.change(key, (cell) => {
        const tried = cell?.value ?? NOTHING;
        const before = triesIn(tried.places[source]);
        refuse(before, 'logins');
        const paced = isPaced ? { ...tried, spentUntil: pacedFor(tried, site) } : tried;
        const tries = failed(before);
        return { cell: cellOf(withSource(paced, place, tries)), result: { before, tries } };
      });
      return countedTry(counted, (change) =>
        cells.change(key, (cell) => {
          const tried = cell?.value ?? NOTHING;
          const returned = isPaced ? { ...tried, spentUntil: returnAttempt(tried.spentUntil) } : tried;
          const current = tried.places[source];
          return { cell: cellOf(current ? withSource(returned, place, change(current)) : returned), result: undefined };
        }),
      );
    },

    async countCode(username, place) {
      if (isKnownSource(place.source, place.knownSources)) return NO_ATTEMPT;
      const [cells, key] = [cellsFor(place), nameKey(username)];
      const counted = await cells.change(key, (cell) => {
        const before = triesIn(cell?.value.codes);
        refuse(before, 'codes');
        const tries = failed(before);
        return { cell: cellOf({ ...(cell?.value ?? NOTHING), codes: tries }), result: { before, tries } };
      });
      return countedTry(counted, (change) =>
        cells.change(key, (cell) => {
          const { codes, ...tried } = cell?.value ?? NOTHING;
          const changed = codes && change(codes);
          return { cell: cellOf({ ...tried, ...(changed && { codes: changed }) }), result: undefined };
        }),
      );
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
function endOf({ lastAt, lockedUntil }: SourceAttempts): number {
  return Math.max(lastAt, lockedUntil) + QUIET_MS;
}

function cellOf(value: NameAttempts): Cell<NameAttempts> {
  const { places, codes, spentUntil } = value;
  const tries = [...Object.values(places), ...(codes ? [codes] : [])];
  return { value, expiresAt: Math.max(spentUntil, ...tries.map(endOf)) };
}

function withSource(
  tried: NameAttempts,
  { source, site, knownSources }: AttemptSource,
  tries: SourceAttempts | undefined,
): NameAttempts {
  const { [source]: _, ...others } = tried.places;
  const places = tries ? { ...others, [source]: { ...tries, site } } : others;
  const addresses = Object.keys(places).filter((each) => !isKnownSource(each, knownSources));
  if (addresses.length <= MAX_ADDRESSES) return { ...tried, places };
  const [quietest = ''] = addresses.sort(
    (a, b) => endOf(places[a] as SourceAttempts) - endOf(places[b] as SourceAttempts),
  );
  const { [quietest]: __, ...kept } = places;
  return { ...tried, places: kept };
}

/** The key of a name: what somebody typed as one may be a password. */
export function nameKey(username: string): string {
  return hash('sha256', username, 'base64url');
}

/** Returns true if an account signed in from there before, or if it is this machine. */
export function isKnownSource(source: string, knownSources: readonly string[] | undefined): boolean {
  return isLoopback(source) || (knownSources?.includes(source) ?? false);
}

function tooManyAttempts(waitMs: number): MeshError {
  const retryAfterSeconds = secondsOf(waitMs);
  const message =
    `Too many failed logins for this account from new addresses: try again in ${wordsOf(retryAfterSeconds)}. ` +
    'From an address that you signed in from before, you can sign in at once.';
  return new MeshError('rate_limited', message, { retryAfterSeconds });
}

function secondsOf(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1_000));
}

function wordsOf(seconds: number): string {
  if (seconds < 120) return `${seconds} seconds`;
  if (seconds < 7_200) return `${Math.ceil(seconds / 60)} minutes`;
  return `${Math.ceil(seconds / 3_600)} hours`;
}
