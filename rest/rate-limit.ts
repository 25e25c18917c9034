import type { RequestHandler } from 'express';
import { type IncrementResponse, ipKeyGenerator, rateLimit, type Store } from 'express-rate-limit';
import type { Caller } from '../core/base/caller.ts';
import { MeshError } from '../core/base/errors.ts';
import { isLoopback, originOf } from '../core/base/origin.ts';
import { limitPrincipals } from './principal-rate.ts';
import { createRateWindows } from './rate-windows.ts';
import { bearerOf } from './router.ts';

export interface RateLimit {
  /** Requests of one source address within a minute, without a credential; principals may ask more often. */
  readonly perMinute: number;
  /** Sources remembered at once; past it the one that was quiet for longest is forgotten. */
  readonly maxSources?: number;
  /** Off unless set: what runs on this very machine is not held back, unless a proxy says for whom it asks. */
  readonly limitLoopback?: boolean;
}

const WINDOW_MS = 60_000;
const MAX_SOURCES = 50_000;

/** Who was verified lately with this bearer token, without a look at the store. */
export type KnownCaller = (bearer: string) => Caller | undefined;

/** Credentials that stand for one principal. A join token is many devices': those count by address. */
const PRINCIPALS: ReadonlySet<Caller['kind']> = new Set<Caller['kind']>(['user', 'agent', 'device']);

/**
 * Refuses who asks too often: a principal wherever it is, anyone else by source address. Remembers a bounded number of
 * sources, IPv6 ones by their /56. A credential counts as none until it was verified once.
 */
export function limitRate(
  { perMinute, maxSources = MAX_SOURCES, limitLoopback = false }: RateLimit,
  known: KnownCaller,
): RequestHandler {
  const countPrincipal = limitPrincipals(perMinute);
  const store = boundedStore(maxSources);
  const limiter = rateLimit({
    windowMs: WINDOW_MS,
    limit: perMinute,
    store,
    standardHeaders: false,
    legacyHeaders: false,
    keyGenerator: (request) => ipKeyGenerator(originOf(request)),
    handler: (request, _response, next) => {
      const resetAt = (request as { rateLimit?: { resetTime?: Date } }).rateLimit?.resetTime?.getTime() ?? Date.now();
      const retryAfterSeconds = Math.max(1, Math.ceil((resetAt - Date.now()) / 1_000));
      next(
        new MeshError('rate_limited', `Too many requests: wait ${retryAfterSeconds} s and try again.`, {
          retryAfterSeconds,
        }),
      );
    },
    validate: false,
  });
  return (request, response, next) => {
    const bearer = bearerOf(request.headers.authorization);
    const caller = bearer === undefined ? undefined : known(bearer);
    if (caller && PRINCIPALS.has(caller.kind)) {
      try {
        countPrincipal(caller, Date.now());
      } catch (error) {
        next(error);
        return;
      }
      next();
      return;
    }
    const exempt = !limitLoopback && isLoopback(originOf(request));
    if (exempt) next();
    else return limiter(request, response, next);
  };
}

function boundedStore(maxSources: number): Store {
  const windows = createRateWindows(WINDOW_MS, maxSources);
  return {
    localKeys: true,
    increment(key): IncrementResponse {
      const window = windows.at(key, Date.now());
      window.count++;
      return { totalHits: window.count, resetTime: new Date(window.resetAt) };
    },
    decrement(key) {
      windows.at(key, Date.now()).count--;
    },
    resetKey: windows.forget,
  };
}
