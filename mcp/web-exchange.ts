import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthInfo, McpHttpHandler } from '@modelcontextprotocol/server';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { accepts } from '../rest/accept.ts';

/** A request whose caller the transport has verified. */
export type AuthenticatedRequest = IncomingMessage & { auth?: AuthInfo };

/** Headers that the SDK reads. It gets neither the credential nor the body, which are handed over beside the request. */
const READ_BY_SDK = /^(?:accept|content-type|last-event-id|mcp-.*)$/;

export const JSON_TYPE = 'application/json';
export const EVENTS_TYPE = 'text/event-stream';

/** Returns a request of node:http as the SDK takes it, without its body. */
export function webRequest(
  { method = 'GET', headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  signal?: AbortSignal,
): Request {
  const read: [string, string][] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && READ_BY_SDK.test(name)) read.push([name, String(value)]);
  }
  const sent = new Headers(read);
  // The SDK looks for both names, without regard to wildcards and qualities: `Accept` is judged before.
  sent.set('accept', `${JSON_TYPE}, ${EVENTS_TYPE}`);
  return new Request('http://mesh/mcp', { method, headers: sent, ...(signal && { signal }) });
}

/** Returns an answer of the SDK as its caller takes it: the replies in a stream of events as JSON, where it takes no events. */
export function asAccepted(
  answer: Response,
  { method, headers: { accept } }: Pick<IncomingMessage, 'method' | 'headers'>,
) {
  const isStream = answer.headers.get('content-type')?.startsWith(EVENTS_TYPE) === true;
  if (!isStream || !answer.body || method !== 'POST' || accepts(accept, EVENTS_TYPE)) return answer;
  const replies: string[] = [];
  const body = answer.body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new EventSourceParserStream())
    .pipeThrough(
      new TransformStream<{ data: string }, string>({
        transform({ data }) {
          if (data !== '' && !('method' in JSON.parse(data))) replies.push(data);
        },
        flush(controller) {
          const [only = ''] = replies;
          controller.enqueue(replies.length === 1 ? only : `[${replies.join()}]`);
        },
      }),
    )
    .pipeThrough(new TextEncoderStream());
  const headers = new Headers(answer.headers);
  headers.set('content-type', JSON_TYPE);
  return new Response(body, { status: answer.status, headers });
}

/**
 * Sends an answer of the SDK, never faster than it is taken. What it holds already goes out in one write with the head;
 * otherwise the head goes alone, because a stream that is silent yet is open all the same.
 */
export async function sendWebResponse({ status, headers, body }: Response, response: ServerResponse): Promise<void> {
  response.writeHead(status, Object.fromEntries(headers));
  if (!body) {
    response.end();
    return;
  }
  const reader = body.getReader();
  let proceed = () => {};
  const leave = () => {
    proceed();
    reader.cancel().catch(() => undefined);
  };
  response.on('drain', () => proceed());
  response.once('close', leave);
  if (response.destroyed) leave();
  const flushing = setImmediate(() => response.flushHeaders());
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || response.destroyed) break;
      if (response.write(value)) continue;
      await new Promise<void>((resolve) => {
        proceed = resolve;
      });
    }
    response.end();
  } catch {
    // No client takes the part for the whole.
    response.destroy();
  } finally {
    clearImmediate(flushing);
  }
}

/** Serves a request whose body was read by a handler of the SDK, until its caller goes. */
export async function serveFetch(
  fetch: McpHttpHandler['fetch'],
  request: AuthenticatedRequest,
  response: ServerResponse,
  body: unknown,
): Promise<void> {
  const { auth: authInfo } = request;
  const abort = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) abort.abort();
  });
  if (response.destroyed) abort.abort();
  const asked = webRequest(request, abort.signal);
  const answer = await fetch(asked, { ...(authInfo && { authInfo }), parsedBody: body });
  await sendWebResponse(asAccepted(answer, request), response);
}
