import type { RequestHandler } from 'express';
import type { Caller } from '../core/base/caller.ts';
import { MeshError } from '../core/base/errors.ts';
import { isLoopback, originOf } from '../core/base/origin.ts';
import { sourceSite } from '../core/model/source-network.ts';
import { credentialOf } from './credential.ts';
import { limitPrincipals } from './principal-rate.ts';
import { createRateWindows } from './rate-windows.ts';

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
  const countSource = limitSources(perMinute, maxSources);
  return (request, _response, next) => {
    const bearer = credentialOf(request);
    const caller = bearer === undefined ? undefined : known(bearer);
    const origin = originOf(request);
    try {
      if (caller && PRINCIPALS.has(caller.kind)) countPrincipal(caller, performance.now());
      else if (limitLoopback || !isLoopback(origin)) countSource(origin, performance.now());
    } catch (error) {
      next(error);
      return;
    }
    next();
  };
}

/** @returns a count of one request. @throws MeshError `rate_limited` when its source asked too often */
function limitSources(perMinute: number, maxSources: number): (origin: string, now: number) => void {
  const windows = createRateWindows(WINDOW_MS, maxSources);
  return (origin, now) => {
    const window = windows.at(sourceSite(origin), now);
    window.count++;
    if (window.count <= perMinute) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((window.resetAt - now) / 1_000));
    throw new MeshError('rate_limited', `Too many requests: wait ${retryAfterSeconds} s and try again.`, {
      retryAfterSeconds,
    });
  };
}
