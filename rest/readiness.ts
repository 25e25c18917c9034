import type { RequestHandler } from 'express';
import { MeshError } from '../core/base/errors.ts';

/** What one part of the control plane says of itself. */
export interface ReadyCheck {
  readonly name: string;
  /** `degraded`: requests are served, and something does not work beside that. */
  readonly state: 'ok' | 'degraded' | 'failed';
  /** One sentence for people; of what is wrong, what to do. */
  readonly detail: string;
}

/** Answers /readyz: 200 unless a check failed; with `?verbose` each check. */
export function serveReadiness(ready: () => Promise<readonly ReadyCheck[]>): RequestHandler {
  return async (request, response) => {
    const isVerbose = /\?(?:.*&)?verbose(?:[=&]|$)/.test(request.url);
    const checks = await ready();
    const failed = checks.filter(({ state }) => state === 'failed');
    if (failed.length > 0) {
      const detail = failed.map(({ name, detail }) => `${name}: ${detail}`).join(' ');
      throw new MeshError('unavailable', `The control plane is not ready: ${detail}`, isVerbose ? { checks } : {});
    }
    const degraded = checks.filter(({ state }) => state === 'degraded').map(({ detail }) => detail);
    response.setHeader('Cache-Control', 'no-store');
    response.json({
      status: 'ready',
      ...(degraded.length > 0 && { degraded }),
      ...(isVerbose && { checks }),
    });
  };
}
