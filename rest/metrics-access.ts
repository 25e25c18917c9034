import type { RequestHandler } from 'express';
import { MeshError } from '../core/base/errors.ts';
import { isLoopback } from '../core/base/loopback.ts';
import { originOf } from '../core/base/origin.ts';
import { equalSecrets, type Secret } from '../core/base/secret.ts';
import { bearerOf } from './credential.ts';
import type { Metrics } from './metrics.ts';

/** The callers that may read /metrics: everyone, callers on this machine, nobody, or those with this bearer token. */
export type MetricsAccess = 'open' | 'local' | 'off' | { readonly token: Secret };

/** A text is made at most this often, however many ask: it costs milliseconds, and by default everyone may ask. */
const CACHE_MS = 1_000;

/** Answers /metrics to those who may read it. */
export function serveMetrics(
  metrics: Pick<Metrics, 'render'>,
  access: MetricsAccess,
  now: () => number = () => performance.now(),
): RequestHandler {
  const textOf = cachedFor(CACHE_MS, now, () => metrics.render());
  return async (request, response, next) => {
    if (access === 'off') return next();
    if (access === 'local' && !isLoopback(originOf(request))) {
      throw new MeshError('forbidden', 'Metrics are served to this machine only: see app.metrics in config.yaml.');
    }
    if (typeof access === 'object') {
      const token = bearerOf(request.headers.authorization);
      if (token === undefined || !equalSecrets(token, access.token.reveal())) {
        throw new MeshError('unauthenticated', 'Send the token of app.metrics as Authorization: Bearer <token>.');
      }
    }
    const text = await textOf();
    response.type('text/plain; version=0.0.4; charset=utf-8').send(text);
  };
}

/** Returns a function that reuses a result for `ms`, also while it is pending. A failure is not reused. */
function cachedFor<T>(ms: number, now: () => number, make: () => Promise<T>): () => Promise<T> {
  let kept: { readonly made: Promise<T>; readonly until: number } | undefined;
  return () => {
    if (kept && now() < kept.until) return kept.made;
    const fresh = { made: make(), until: now() + ms };
    kept = fresh;
    fresh.made.catch(() => {
      if (kept === fresh) kept = undefined;
    });
    return fresh.made;
  };
}
