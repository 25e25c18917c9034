import type { ServerResponse } from 'node:http';
import { MeshError, type Problem } from '../core/base/errors.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Headers that a problem asks for besides its type: `WWW-Authenticate`, `Retry-After`, `Allow`, `Accept-Patch`. */
export function problemHeaders(problem: Problem): string[] {
  const headers = ['Content-Type', PROBLEM_TYPE];
  if (problem.status === 401) headers.push('WWW-Authenticate', 'Bearer realm="mesh"');
  const { retryAfterSeconds, allow, acceptPatch } = problem;
  if (typeof retryAfterSeconds === 'number')
    headers.push('Retry-After', String(Math.max(1, Math.ceil(retryAfterSeconds))));
  if (Array.isArray(allow)) headers.push('Allow', allow.join(', '));
  if (Array.isArray(acceptPatch)) headers.push('Accept-Patch', acceptPatch.join(', '));
  return headers;
}

/** Answers with a problem, if nothing was answered yet. */
export function sendProblem(response: ServerResponse, problem: Problem, extra: readonly string[] = []): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = JSON.stringify(problem);
  response.writeHead(problem.status, [
    ...extra,
    ...problemHeaders(problem),
    // A caller beyond its rate does not keep its connection.
    ...(problem.status === 429 ? ['Connection', 'close'] : []),
    'Cache-Control',
    'no-store',
    'Content-Length',
    String(Buffer.byteLength(body)),
  ]);
  response.end(body);
}

/** Converts an error of express into the problem that it is; a bug stays a bug. */
export function fromHttpError(error: unknown): unknown {
  if (error instanceof MeshError || !(error instanceof Error)) return error;
  const { status } = error as { status?: unknown };
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new MeshError('invalid_input', 'The request is malformed or was cut off.');
  }
  return error;
}
