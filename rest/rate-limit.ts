import type { RequestHandler } from 'express';
import { type IncrementResponse, ipKeyGenerator, rateLimit, type Store } from 'express-rate-limit';
import { MeshError } from '../core/errors.ts';
import { isLoopback, originOf } from '../core/origin.ts';

export interface RateLimit {
  /** Requests of one source address within a minute. */
  readonly perMinute: number;
  /** Sources remembered at once; past it the one that was quiet for longest is forgotten. */
  readonly maxSources?: number;
  /** Off unless set: what runs on this very machine is not held back, unless a proxy says for whom it asks. */
  readonly limitLoopback?: boolean;
}

const WINDOW_MS = 60_000;
const MAX_SOURCES = 50_000;

/** Refuses a source that asks too often; remembers a bounded number of sources, IPv6 ones by their /56. */
export function limitRate({ perMinute, maxSources = MAX_SOURCES, limitLoopback = false }: RateLimit): RequestHandler {
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
    const exempt = !limitLoopback && isLoopback(originOf(request));
    if (exempt) next();
    else return limiter(request, response, next);
  };
}

/** Fixed windows by source. A Map keeps insertion order, so the first key is the one that started longest ago. */
function boundedStore(maxSources: number): Store {
  const windows = new Map<string, { totalHits: number; resetTime: Date }>();
  return {
    localKeys: true,
    increment(key): IncrementResponse {
      const now = Date.now();
      const known = windows.get(key);
      if (known && known.resetTime.getTime() > now) {
        known.totalHits++;
        return known;
      }
      windows.delete(key);
      if (windows.size >= maxSources) for (const oldest of windows.keys()) if (windows.delete(oldest)) break;
      const fresh = { totalHits: 1, resetTime: new Date(now + WINDOW_MS) };
      windows.set(key, fresh);
      return fresh;
    },
    decrement(key) {
      const known = windows.get(key);
      if (known) known.totalHits--;
    },
    resetKey(key) {
      windows.delete(key);
    },
  };
}
