import type { IncomingMessage, ServerResponse } from 'node:http';

export const METHODS = 'GET, POST, DELETE, OPTIONS';

const REQUEST_HEADERS =
  'Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, X-Workspace-Id';
const ANSWER_HEADERS = 'Mcp-Session-Id, Retry-After, WWW-Authenticate';
/** A browser keeps the answer to a preflight for so long, in seconds; none keeps it longer than two hours. */
const MAX_AGE = '7200';

/**
 * Lets the page of an allowed origin read answers (https://fetch.spec.whatwg.org/#http-cors-protocol). It sends its token itself:
 * cookies count for nothing here, so credentials are not allowed.
 *
 * @returns true where the request was a preflight, which is answered then
 */
export function answerCors({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
  const { origin } = headers;
  if (origin !== undefined) {
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Access-Control-Expose-Headers', ANSWER_HEADERS);
  }
  response.setHeader('Vary', 'Origin');
  if (method !== 'OPTIONS') return false;
  if (origin !== undefined) {
    response.setHeader('Access-Control-Allow-Methods', METHODS);
    response.setHeader('Access-Control-Allow-Headers', REQUEST_HEADERS);
    response.setHeader('Access-Control-Max-Age', MAX_AGE);
  }
  response.writeHead(204, { Allow: METHODS }).end();
  return true;
}
