import type { ServerResponse } from 'node:http';
import { lineText } from '../core/base/as-data.ts';
import type { Problem } from '../core/base/errors.ts';

/** A JSON-RPC error as the whole answer. */
export function sendRpcError(
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
  id: string | number | null = null,
  problem?: Problem,
): void {
  const { retryAfterSeconds } = (problem ?? {}) as { retryAfterSeconds?: unknown };
  const retry = typeof retryAfterSeconds === 'number' ? { 'Retry-After': String(retryAfterSeconds) } : {};
  // A caller beyond its rate does not keep its connection.
  const close = status === 429 ? { Connection: 'close' } : {};
  const error = { code, message: lineText(message), ...(problem && { data: problem }) };
  send(response, status, { 'Content-Type': 'application/json', ...retry, ...close }, { jsonrpc: '2.0', id, error });
}

/** 401 as RFC 6750 asks. */
export function sendUnauthenticated(response: ServerResponse, problem: Problem, sentToken: boolean): void {
  const challenge = sentToken ? 'Bearer realm="mesh", error="invalid_token"' : 'Bearer realm="mesh"';
  send(
    response,
    401,
    { 'Content-Type': 'application/problem+json; charset=utf-8', 'WWW-Authenticate': challenge },
    problem,
  );
}

function send(response: ServerResponse, status: number, headers: Record<string, string>, body: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const text = JSON.stringify(body);
  // The rest of a body that was refused unread must not be taken for the next request.
  const connection = status === 413 ? { Connection: 'close' } : {};
  response.writeHead(status, { ...headers, ...connection, 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}
