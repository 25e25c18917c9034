import type { RequestHandler } from 'express';
import type { Caller } from '../core/base/caller.ts';
import { MeshError } from '../core/base/errors.ts';
import { isLoopback } from '../core/base/loopback.ts';
import { originOf } from '../core/base/origin.ts';
import { sourceSite } from '../core/model/source-network.ts';
import { credentialOf } from './credential.ts';
import { limitPrincipals, MAX_KEYS, WINDOW_MS } from './principal-rate.ts';
import { createRateWindows, type RateWindows } from './rate-windows.ts';
import type { SharedWindows } from './shared-windows.ts';

export interface RateLimit {
  /** Requests of one source address within a minute, without a credential; principals may ask more often. */
  readonly perMinute: number;
  /** Sources remembered at once; past it the one that was quiet for longest is forgotten. */
  readonly maxSources?: number;
  /** Off unless set: what runs on this very machine is not held back, unless a proxy says for whom it asks. */
  readonly limitLoopback?: boolean;
  /** Where several control planes hold it together. */
  readonly together?: Pick<SharedWindows, 'windows' | 'now'> | undefined;
}

const MAX_SOURCES = 50_000;

/** Returns the caller that was verified lately with this bearer token, without reading the store. */
export type KnownCaller = (bearer: string) => Caller | undefined;

/** Credentials that stand for one principal. A join token is many devices': those count by address. */
const PRINCIPALS: ReadonlySet<Caller['kind']> = new Set<Caller['kind']>(['user', 'agent', 'device']);

/**
 * Refuses who asks too often: a principal wherever it is, anyone else by source address. Remembers a bounded number of
 * sources, IPv6 ones by their /56. A credential counts as none until it was verified once.
 */
export function limitRate(
  { perMinute, maxSources = MAX_SOURCES, limitLoopback = false, together }: RateLimit,
  known: KnownCaller,
): RequestHandler {
  const windows = (name: string, maxKeys: number) =>
    together?.windows(name, WINDOW_MS, maxKeys) ?? createRateWindows(WINDOW_MS, maxKeys);
  const countPrincipal = limitPrincipals(perMinute, windows('caller', MAX_KEYS));
  const countSource = limitSources(perMinute, windows('source', maxSources));
  // A clock that is set is none of the limits of one control plane; several have no other in common.
  const now = () => together?.now() ?? performance.now();
  return (request, _response, next) => {
    const bearer = credentialOf(request);
    const caller = bearer === undefined ? undefined : known(bearer);
    const origin = originOf(request);
    try {
      if (caller && PRINCIPALS.has(caller.kind)) countPrincipal(caller, now());
      else if (limitLoopback || !isLoopback(origin)) countSource(origin, now());
    } catch (error) {
      next(error);
      return;
    }
    next();
  };
}

/** @returns a count of one request. @throws MeshError `rate_limited` when its source asked too often */
function limitSources(perMinute: number, windows: RateWindows): (origin: string, now: number) => void {
  return (origin, now) => {
    const window = windows.at(sourceSite(origin), perMinute, now);
    window.count++;
    if (window.count + window.others <= perMinute) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((window.resetAt - now) / 1_000));
    throw new MeshError('rate_limited', `Too many requests: wait ${retryAfterSeconds} s and try again.`, {
      retryAfterSeconds,
    });
  };
}
