import type { Readable, Writable } from 'node:stream';
import { type JSONRPCMessage, type JSONRPCRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { boundedLines } from './bounded-lines.ts';

export interface BridgeOptions {
  /** Address of the control plane, such as `https://mesh.example:18090`. */
  readonly server: string;
  /** Left out where a sandbox's door adds it. */
  readonly token?: string;
  /** Id or slug; needed where the token is good for several workspaces. */
  readonly workspace?: string;
  readonly input?: Readable;
  readonly output?: Writable;
  /** Told of what goes wrong on the way; standard output carries the protocol alone. */
  readonly warn?: (message: string) => void;
}

export interface Bridge {
  /** Settles when the client closed its end. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** How long a lost event stream of the 2025 era rests before it is opened again. */
const REOPEN_MS = 1_000;
/** There is no such session, or no stream for this client; after anything else it is opened again, perhaps elsewhere. */
const ENDED: ReadonlySet<number> = new Set([400, 401, 403, 404, 405]);
const UNREACHABLE = -32_000;

/**
 * Carries MCP between standard input and output and a control plane far away, message by message, in either era.
 * It adds the token and the workspace and understands nothing else, so new methods pass as they are.
 */
export function bridgeStdio(options: BridgeOptions): Bridge {
  const { server, token, workspace, input = process.stdin, output = process.stdout, warn = () => undefined } = options;
  const url = new URL('/mcp', server);
  const stdio = new StdioServerTransport(boundedLines(input, output), output);
  const end = new AbortController();
  const underWay = new Map<string | number, AbortController>();
  let session: { readonly id: string; readonly version: string } | undefined;
  let opening: Promise<void> = Promise.resolve();
  let initialize: JSONRPCMessage | undefined;

  const reply = (message: JSONRPCMessage) =>
    stdio.send(message).catch((error: unknown) => warn(`The client does not take messages: ${String(error)}`));

  function headersFor(message: JSONRPCMessage | undefined): Headers {
    const headers = new Headers({ accept: 'application/json, text/event-stream' });
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    if (workspace) headers.set('x-workspace-id', workspace);
    if (message) headers.set('content-type', 'application/json');
    const version = message && modernVersionOf(message);
    if (version && 'method' in message) {
      headers.set('mcp-protocol-version', version);
      headers.set('mcp-method', message.method);
      const name = nameOf(message);
      if (name !== undefined) headers.set('mcp-name', headerValue(name));
    } else if (session) {
      headers.set('mcp-session-id', session.id);
      headers.set('mcp-protocol-version', session.version);
    }
    return headers;
  }

  async function carry(message: JSONRPCMessage): Promise<void> {
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    const own = new AbortController();
    if (id !== undefined) underWay.set(id, own);
    try {
      // While a session is opened again, nothing else may go out without one.
      if (initialize && !session && message !== initialize) await opening;
      const signal = AbortSignal.any([own.signal, end.signal]);
      const lost = session;
      const response = await post(message, signal);
      if (response.status === 404 && lost && initialize) {
        await response.body?.cancel();
        if (session === lost) opening = reopen(lost.version, initialize);
        await opening;
        await deliver(await post(message, signal), message);
      } else {
        await deliver(response, message);
      }
    } catch (error) {
      if (own.signal.aborted || end.signal.aborted) return;
      const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      await fail(id, `The control plane at ${url.origin} cannot be reached: ${reason}`);
    } finally {
      if (id !== undefined) underWay.delete(id);
    }
  }

  function post(message: JSONRPCMessage, signal: AbortSignal): Promise<Response> {
    return fetch(url, { method: 'POST', headers: headersFor(message), body: JSON.stringify(message), signal });
  }

  /** A control plane that was restarted has forgotten the session; the client need not know. */
  async function reopen(version: string, first: JSONRPCMessage): Promise<void> {
    session = undefined;
    const response = await post(first, end.signal);
    await response.body?.cancel();
    const id = response.headers.get('mcp-session-id');
    if (!id) return;
    session = { id, version };
    const ready = await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, end.signal);
    await ready.body?.cancel();
    void listenForEvents();
  }

  async function deliver(response: Response, message: JSONRPCMessage): Promise<void> {
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    const type = response.headers.get('content-type') ?? '';
    const opened = response.headers.get('mcp-session-id');
    if (type.startsWith('text/event-stream') && response.body) {
      await pump(response.body, (incoming) => noteSession(message, incoming, opened));
    } else if (response.status === 202 || response.status === 204) {
      await response.body?.cancel();
    } else {
      const body = (await response.json().catch(() => undefined)) as Record<string, unknown> | undefined;
      if (body?.['jsonrpc'] === '2.0') {
        const answer = { ...body, ...(body['id'] === null && id !== undefined && { id }) } as JSONRPCMessage;
        noteSession(message, answer, opened);
        if (id !== undefined) await reply(answer);
      } else {
        const detail = typeof body?.['detail'] === 'string' ? body['detail'] : `It answered HTTP ${response.status}.`;
        await fail(id, `The control plane refused the message: ${detail}`);
      }
    }
  }

  /** The 2025 era names a session in the answer to `initialize`; from then on its events are listened to. */
  function noteSession(request: JSONRPCMessage, answer: JSONRPCMessage, opened: string | null): void {
    if (!opened || session?.id === opened || !('method' in request) || request.method !== 'initialize') return;
    const { protocolVersion } = ('result' in answer ? answer.result : {}) as { protocolVersion?: unknown };
    if (typeof protocolVersion !== 'string') return;
    session = { id: opened, version: protocolVersion };
    void listenForEvents();
  }

  async function listenForEvents(): Promise<void> {
    while (!end.signal.aborted) {
      try {
        const response = await fetch(url, { headers: headersFor(undefined), signal: end.signal });
        if (ENDED.has(response.status)) return;
        if (response.ok && response.body) await pump(response.body);
        else await response.body?.cancel();
      } catch (error) {
        if (end.signal.aborted) return;
        warn(`The event stream was lost: ${String(error)}`);
      }
      await pause(REOPEN_MS, end.signal);
    }
  }

  async function pump(body: ReadableStream<Uint8Array>, note: (message: JSONRPCMessage) => void = () => undefined) {
    const decoded = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>);
    for await (const { data } of decoded.pipeThrough(new EventSourceParserStream())) {
      if (data === '') continue;
      const message = JSON.parse(data) as JSONRPCMessage;
      note(message);
      await reply(message);
    }
  }

  async function fail(id: string | number | undefined, message: string): Promise<void> {
    if (id === undefined) warn(message);
    else await reply({ jsonrpc: '2.0', id, error: { code: UNREACHABLE, message } });
  }

  stdio.onmessage = (message) => {
    if (cancels(message) && !session) {
      // In the current revision a client takes a request back by leaving its response.
      const { requestId } = message.params as { requestId?: string | number };
      if (requestId !== undefined) underWay.get(requestId)?.abort();
      return;
    }
    const isOpening = 'method' in message && message.method === 'initialize';
    const carried = opening.then(() => carry(message));
    if (isOpening) {
      initialize = message;
      opening = carried;
    }
  };
  stdio.onerror = (error) => warn(error.message);
  const closed = new Promise<void>((resolve) => {
    stdio.onclose = () => {
      void leave().finally(resolve);
    };
  });
  void stdio.start();

  async function leave(): Promise<void> {
    const left = session && headersFor(undefined);
    session = undefined;
    end.abort();
    if (left)
      await fetch(url, { method: 'DELETE', headers: left, signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
  }

  return { closed, close: () => stdio.close().then(() => closed) };
}

function modernVersionOf(message: JSONRPCMessage): string | undefined {
  const params = 'params' in message ? (message.params as { _meta?: Record<string, unknown> } | undefined) : undefined;
  const version = params?._meta?.[PROTOCOL_VERSION_META_KEY];
  return typeof version === 'string' ? version : undefined;
}

/** Returns the value that `Mcp-Name` repeats from the body: the tool, prompt or resource of the request. */
function nameOf({ method, params }: Pick<JSONRPCRequest, 'method' | 'params'>): string | undefined {
  const { name, uri } = (params ?? {}) as { name?: unknown; uri?: unknown };
  const value =
    method === 'resources/read' ? uri : method === 'tools/call' || method === 'prompts/get' ? name : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** As the revision encodes what a header cannot carry. */
function headerValue(value: string): string {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)
    ? value
    : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

function cancels(message: JSONRPCMessage): message is JSONRPCMessage & { params: object } {
  return 'method' in message && message.method === 'notifications/cancelled' && typeof message.params === 'object';
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
