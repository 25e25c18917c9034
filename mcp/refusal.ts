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

/** A refusal by which an OAuth client learns where to ask, and for what (RFC 6750, RFC 9728). */
export interface Challenge {
  /** Absent under an address where no client can sign in. */
  readonly resourceMetadata?: string | undefined;
  readonly scopes: readonly string[];
  /** Absent where no token was sent. */
  readonly error?: 'invalid_token' | 'insufficient_scope' | undefined;
}

/** 401, or 403 for a scope that is missing: as a problem, with the reason where OAuth clients look for it too. */
export function sendChallenge(response: ServerResponse, problem: Problem, challenge: Challenge): void {
  const { resourceMetadata, scopes, error } = challenge;
  const parameters = {
    realm: 'mesh',
    ...(resourceMetadata !== undefined && { resource_metadata: resourceMetadata }),
    ...(resourceMetadata !== undefined && scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(error && { error, error_description: problem.detail.replaceAll(/[^\x20-\x7e]|["\\]/g, "'") }),
  };
  const header = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`);
  send(
    response,
    problem.status,
    {
      'Content-Type': 'application/problem+json; charset=utf-8',
      'WWW-Authenticate': `Bearer ${header.join(', ')}`,
    },
    { ...problem, ...(error && { error, error_description: problem.detail }) },
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
