import type { RequestHandler } from 'express';
import { MeshError } from '../core/base/errors.ts';
import { isLoopback, originOf } from '../core/base/origin.ts';
import { equalSecrets, type Secret } from '../core/base/secret.ts';
import { bearerOf } from './credential.ts';
import type { Metrics } from './metrics.ts';

/** Who may read /metrics: everyone, callers on this machine, nobody, or who sends this bearer token. */
export type MetricsAccess = 'open' | 'local' | 'off' | { readonly token: Secret };

/** Answers /metrics to those who may read it. */
export function serveMetrics(metrics: Metrics, access: MetricsAccess): RequestHandler {
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
    const text = await metrics.render();
    response.type('text/plain; version=0.0.4; charset=utf-8').send(text);
  };
}
