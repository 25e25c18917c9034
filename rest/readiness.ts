import type { RequestHandler } from 'express';
import { z } from 'zod';
import { MeshError } from '../core/base/errors.ts';

/** What one part of the control plane says of itself. */
export const readyCheck = z
  .strictObject({
    name: z.string(),
    state: z
      .enum(['ok', 'degraded', 'failed'])
      .describe('degraded: requests are served, and something beside that is wrong'),
    detail: z.string().describe('For people; of what is wrong, what to do'),
  })
  .meta({ id: 'ReadyCheck' });

export type ReadyCheck = Readonly<z.output<typeof readyCheck>>;

/** The answer where no check failed. */
export const readyAnswer = z
  .strictObject({
    status: z.literal('ready'),
    degraded: z.array(z.string()).optional().describe('What is wrong beside that requests are served'),
    checks: z.array(readyCheck).optional().describe('With verbose'),
  })
  .meta({ id: 'Readiness' });

/** Answers /readyz: 200 unless a check failed; with `?verbose` each check. */
export function serveReadiness(ready: () => Promise<readonly ReadyCheck[]>): RequestHandler {
  return async (request, response) => {
    const isVerbose = new URL(request.url, 'http://mesh').searchParams.has('verbose');
    const checks = await ready();
    const failed = checks.filter(({ state }) => state === 'failed');
    if (failed.length > 0) {
      const detail = failed.map(({ name, detail }) => `${name}: ${detail}`).join(' ');
      throw new MeshError('unavailable', `The control plane is not ready: ${detail}`, isVerbose ? { checks } : {});
    }
    const degraded = checks.filter(({ state }) => state === 'degraded').map(({ detail }) => detail);
    response.setHeader('Cache-Control', 'no-store');
    const answer: z.output<typeof readyAnswer> = {
      status: 'ready',
      ...(degraded.length > 0 && { degraded }),
      ...(isVerbose && { checks: [...checks] }),
    };
    response.json(answer);
  };
}
