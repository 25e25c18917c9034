import type { RequestHandler } from 'express';
import { z } from 'zod';
import { MeshError, toProblem } from '../core/base/errors.ts';
import type { Log } from '../core/base/ports.ts';
import { requestIdOf } from '../core/base/request-id.ts';
import { sendProblem } from './problem.ts';

/** The condition of one part of the control plane, as that part reports it. */
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

/** Answers /readyz: 200 unless a check failed; with `?verbose` each check. The log has a line where that changes. */
export function serveReadiness(
  ready: () => Promise<readonly ReadyCheck[]>,
  log: Pick<Log, 'info' | 'warn'>,
): RequestHandler {
  let logged = '';
  const logChange = (failed: readonly ReadyCheck[]) => {
    const now = failed.map(({ name }) => name).join(', ');
    if (now === logged) return;
    logged = now;
    if (now === '') log.info({}, 'ready again');
    else log.warn({ checks: failed.map(({ name, detail }) => ({ name, detail })) }, 'not ready');
  };
  return async (request, response) => {
    const isVerbose = new URL(request.url, 'http://mesh').searchParams.has('verbose');
    const checks = await ready();
    const failed = checks.filter(({ state }) => state === 'failed');
    logChange(failed);
    if (failed.length > 0) {
      const detail = failed.map(({ name, detail }) => `${name}: ${detail}`).join(' ');
      const message = `The control plane is not ready: ${detail}`;
      const requestId = requestIdOf(request.headers['x-request-id']);
      const problem = toProblem(new MeshError('unavailable', message, isVerbose ? { checks } : {}), {
        instance: '/readyz',
        requestId,
      });
      sendProblem(response, problem, ['X-Request-Id', requestId]);
      return;
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
