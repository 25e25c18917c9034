import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { MeshError } from '../base/errors.ts';
import { isLoopback } from '../base/loopback.ts';
import { memoryCells } from '../base/memory-cells.ts';
import { plainAddress } from '../base/origin.ts';
import type { Clock, Log } from '../base/ports.ts';
import type { Cells, SharedState } from '../base/shared.ts';
import type { LoginLimits } from '../model/services.ts';
import type { SignInRules } from '../model/sign-in-rules.ts';
import { sourceNetwork } from '../model/source-network.ts';
import { type AttemptCells, buildLoginLocks, type CountedAttempt, nameAttemptsSchema, nameKey } from './login-locks.ts';

const WINDOW_MS = 60_000;
/** Failed logins in a window from one address for one account (docs/accounts-and-tokens.md#limits). */
const PER_ACCOUNT = 5;
/** Failed logins in a window from one address, whatever the accounts. */
const PER_ADDRESS = 30;
/** Bits of an IPv6 address: the network of a household, and the most that a site is commonly given. */
const HOUSEHOLD_BITS = 64;
const SITE_BITS = 48;
/** Remembered in memory; the longest known make room, so that a flood of sources or of names costs no memory. */
const MAX_SOURCES = 10_000;
const MAX_STRANGERS = 4_000;
const MAX_ACCOUNTS = 100_000;

const attemptsSchema = z.array(z.object({ id: z.string(), at: z.int(), name: z.string() }));
/** From one address within a window, each with the key of its name; the earliest first. */
type Attempts = z.infer<typeof attemptsSchema>;

type LoginCells = AttemptCells & { readonly sources: Cells<Attempts> };

/** Returns the source that limits count as one origin of logins. */
export function loginSource(origin: string): string {
  return isLoopback(origin) ? plainAddress(origin) : sourceNetwork(origin, HOUSEHOLD_BITS);
}

export interface LoginLimitsOptions {
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  readonly rules: Pick<SignInRules, 'lockAfter' | 'lockMs'>;
  /** Kept with other control planes; in this process's memory where there is none. */
  readonly shared?: Pick<SharedState, 'cells'> | undefined;
}

export function buildLoginLimits({ clock, log, rules, shared }: LoginLimitsOptions): LoginLimits {
  const { sources, ...tried } = loginCells(clock, shared);
  const locks = buildLoginLocks(clock, rules, tried);

  /** Counts an attempt from a source, where there is room for one. @throws MeshError `rate_limited` */
  function countAt(source: string, attempt: Omit<Attempts[number], 'at'>): Promise<void> {
    return sources.change(source, (cell) => {
      const now = clock.now();
      const recent = (cell?.value ?? []).filter(({ at }) => at > now - WINDOW_MS);
      const ofName = recent.filter(({ name }) => name === attempt.name);
      const free = [freeAt(ofName, PER_ACCOUNT), freeAt(recent, PER_ADDRESS)].filter((at) => at !== undefined);
      if (free.length > 0) throw tooMany(Math.max(...free) - now);
      return { cell: cellOf([...recent, { ...attempt, at: now }]), result: undefined };
    });
  }

  function forget(source: string, id: string): Promise<void> {
    return sources.change(source, (cell) => {
      const left = cell?.value.filter((attempt) => attempt.id !== id) ?? [];
      return { cell: left.length === cell?.value.length ? cell : cellOf(left), result: undefined };
    });
  }

  /** Takes counts back. A failure is only logged: a count that remains admits nobody, so the login need not fail. */
  async function takingBack(...steps: readonly Promise<void>[]): Promise<void> {
    const done = await Promise.allSettled(steps);
    const failed = done.find(({ status }) => status === 'rejected');
    if (failed) log.warn({ err: (failed as PromiseRejectedResult).reason }, 'a login that was no guess counts as one');
  }

  return {
    async attempt(origin, username, knownSources) {
      const source = loginSource(origin);
      const place = { source, site: sourceNetwork(origin, SITE_BITS), knownSources };
      const id = randomUUID();
      await locks.refuseLocked(username, place);
      await countAt(source, { id, name: nameKey(username) });
      const tried = await locks.count(username, place).catch(async (error: unknown) => {
        await takingBack(forget(source, id));
        throw error;
      });
      let code: CountedAttempt | undefined;
      return {
        get lockedUntil() {
          return code?.lockedUntil ?? tried.lockedUntil;
        },
        async triesCode() {
          code = await locks.countCode(username, place).catch(async (error: unknown) => {
            await takingBack(tried.takeBack());
            throw error;
          });
        },
        incomplete: () => takingBack(tried.takeBack()),
        passed: () => takingBack(tried.takeBack(), forget(source, id), ...(code ? [code.takeBack()] : [])),
        succeeded: () => takingBack(tried.clear(), forget(source, id), ...(code ? [code.clear()] : [])),
      };
    },
    locksOf: locks.locksOf,
    lift: locks.lift,
  };
}

function loginCells(clock: Clock, shared: LoginLimitsOptions['shared']): LoginCells {
  const sharedOf = <T>(space: string, schema: z.ZodType<T>) =>
    shared?.cells(space, (value) => schema.safeParse(value).data);
  return {
    sources: sharedOf('login-source', attemptsSchema) ?? memoryCells(clock, MAX_SOURCES),
    strangers: sharedOf('login-tries-stranger', nameAttemptsSchema) ?? memoryCells(clock, MAX_STRANGERS),
    accounts: sharedOf('login-tries', nameAttemptsSchema) ?? memoryCells(clock, MAX_ACCOUNTS),
  };
}

function cellOf(attempts: Attempts) {
  const last = attempts.at(-1);
  return last && { value: attempts, expiresAt: last.at + WINDOW_MS };
}

/** When there is room for one more; undefined while there is. */
function freeAt(attempts: Attempts, limit: number): number | undefined {
  const first = attempts.at(-limit);
  return attempts.length >= limit && first ? first.at + WINDOW_MS : undefined;
}

function tooMany(waitMs: number): MeshError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const message = `Too many failed logins: try again in ${retryAfterSeconds} seconds.`;
  return new MeshError('rate_limited', message, { retryAfterSeconds });
}
