import type { RequestHandler } from 'express';
import { z } from 'zod';
import { MeshError } from '../core/base/errors.ts';

/** What one part of the control plane says of itself. */
export const readyCheck = z.strictObject({
  name: z.string(),
  state: z
    .enum(['ok', 'degraded', 'failed'])
    .describe('degraded: requests are served, and something beside that is wrong'),
  detail: z.string().describe('For people; of what is wrong, what to do'),
});

export type ReadyCheck = Readonly<z.output<typeof readyCheck>>;

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
