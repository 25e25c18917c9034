import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { type Duplex, pipeline, type Readable, Transform } from 'node:stream';
import { MeshError, toProblem } from '../../core/base/errors.ts';
import { newId } from '../../core/base/ids.ts';
import type { Log } from '../../core/base/ports.ts';
import { WIRE_HEADER } from '../../core/model/wire.ts';
import { ProxiedPlane } from './door-plane.ts';
import { passes, routesFor } from './door-routes.ts';
import { type Listener, type Opening, open } from './opening.ts';

export interface DoorOptions {
  /** Address of the control plane. */
  readonly server: string;
  /** Token of the agent, which never enters the sandbox. */
  readonly token: string;
  readonly log: Log;
  readonly limits?: Partial<DoorLimits>;
}

export const DOOR_LIMITS = {
  /** The control plane takes no more either. */
  bodyBytes: 1_048_576,
  requestsPerMinute: 1_200,
  /** Time for a whole request, ms. */
  requestMs: 30_000,
  /** Time until an answer begins, ms: a model may plan it. */
  answerMs: 180_000,
  /** Longest pause within an answer, ms. Streams of events send something more often. */
  silenceMs: 120_000,
} as const;

export type DoorLimits = Readonly<Record<keyof typeof DOOR_LIMITS, number>>;

/** Via (RFC 9110, 7.6.3): the control plane takes no request that has it for one of its own host. */
const VIA = '1.1 mesh-sandbox';
/** The audit log keeps the id of a request: it tells there that a sandbox made it. */
const REQUEST_ID = 'sandbox-';
/** Request headers that pass. No credential, address or host of the sandbox is among them. */
const PASSED: readonly string[] = [
  ...['accept', 'content-type', 'if-match', 'if-none-match', 'last-event-id', 'user-agent', WIRE_HEADER.toLowerCase()],
  ...['mcp-method', 'mcp-name', 'mcp-protocol-version', 'mcp-session-id', 'x-workspace-id'],
];
/** Answer headers that do not pass: those of one connection (RFC 9110, 7.6.1), and those for browsers. */
const WITHHELD: readonly string[] = [
  ...['connection', 'keep-alive', 'proxy-authenticate', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['alt-svc', 'set-cookie', 'strict-transport-security'],
];
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const MINUTE_MS = 60_000;
const NO_TUNNEL = 'HTTP/1.1 501 Not Implemented\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/**
 * Answers for the control plane inside a sandbox. It adds the agent's token outside, and passes the operations of the agent's scopes
 * alone; the control plane judges each call as ever.
 */
export async function serveDoor(listener: Listener, { server, token, log, limits }: DoorOptions): Promise<Opening> {
  const bounds: DoorLimits = { ...DOOR_LIMITS, ...limits };
  const door = new Door(new ProxiedPlane(server, token, bounds), bounds);
  const http = createServer(
    { headersTimeout: bounds.requestMs, requestTimeout: bounds.requestMs },
    (incoming, response) => {
      door.pass(incoming, response).catch((error: unknown) => {
        if (!(error instanceof MeshError)) log.error({ error: String(error) }, 'a request of the sandbox failed');
        refuse(response, error);
      });
    },
  );
  // Neither a WebSocket nor a tunnel is passed.
  for (const event of ['upgrade', 'connect']) http.on(event, (_request, socket: Duplex) => socket.end(NO_TUNNEL));
  const opening = await open(http, listener);
  return {
    async close() {
      await opening.close();
      door.close();
    },
  };
}

class Door {
  readonly #plane: ProxiedPlane;
  readonly #limits: DoorLimits;
  #routes: Promise<ReturnType<typeof routesFor>> | undefined;
  #window = { count: 0, endsAt: 0 };

  constructor(plane: ProxiedPlane, limits: DoorLimits) {
    this.#plane = plane;
    this.#limits = limits;
  }

  /** @throws MeshError */
  async pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#count();
    const { method = '', url = '', headers } = incoming;
    const { bodyBytes } = this.#limits;
    if (Number(headers['content-length'] ?? 0) > bodyBytes) throw tooLarge(bodyBytes);
    if (!passes(await this.#allowed(), method, url)) throw notPassed(method, url);
    const left = new AbortController();
    response.once('close', () => left.abort());
    const body = WITH_BODY.has(method) ? bodyOf(incoming, bodyBytes) : undefined;
    const answer = await this.#plane.ask({
      method,
      path: url,
      headers: passedHeaders(incoming),
      body,
      signal: left.signal,
    });
    const { statusCode = 502 } = answer;
    if (statusCode >= 300 && statusCode < 400 && statusCode !== 304) {
      answer.destroy();
      throw new MeshError(
        'unavailable',
        'The control plane sends this request on to another address, and the sandbox follows to none: start the sandbox with that address.',
      );
    }
    response.writeHead(statusCode, answerHeaders(answer));
    // The head of a stream is to arrive before its first event.
    response.flushHeaders();
    pipeline(answer, response, () => {});
  }

  close(): void {
    this.#plane.close();
  }

  /** Asked again after a failure: the control plane may be away, or a person may still have to approve the agent. */
  #allowed(): Promise<ReturnType<typeof routesFor>> {
    this.#routes ??= this.#load().catch((error: unknown) => {
      this.#routes = undefined;
      throw error;
    });
    return this.#routes;
  }

  async #load() {
    const [agent, document] = await Promise.all([
      this.#plane.read('/api/v1/agents/self'),
      this.#plane.read('/api/v1/openapi.json'),
    ]);
    const { scopes } = agent as { readonly scopes?: unknown };
    return routesFor(document, Array.isArray(scopes) ? scopes.map(String) : []);
  }

  /** @throws MeshError `rate_limited` */
  #count(): void {
    const now = performance.now();
    if (now >= this.#window.endsAt) this.#window = { count: 0, endsAt: now + MINUTE_MS };
    this.#window.count += 1;
    if (this.#window.count <= this.#limits.requestsPerMinute) return;
    const retryAfterSeconds = Math.ceil((this.#window.endsAt - now) / 1_000);
    throw new MeshError(
      'rate_limited',
      `Too many requests of this sandbox: wait ${retryAfterSeconds} s and try again.`,
      {
        retryAfterSeconds,
      },
    );
  }
}

/** The body, with what tells its end to the next server. @throws MeshError in its stream, for one that is too long */
function bodyOf(incoming: IncomingMessage, maxBytes: number): Readable {
  let length = 0;
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      length += chunk.length;
      if (length > maxBytes) done(tooLarge(maxBytes));
      else done(null, chunk);
    },
  });
  pipeline(incoming, body, () => {});
  return body;
}

function tooLarge(maxBytes: number): MeshError {
  return new MeshError('payload_too_large', `The request body is larger than ${maxBytes} bytes: send less at once.`);
}

function notPassed(method: string, url: string): MeshError {
  const path = url.split('?', 1)[0]?.slice(0, 200);
  return new MeshError('forbidden', `The sandbox passes only what its agent may call, which ${method} ${path} is not.`);
}

function passedHeaders({ method = '', headers }: IncomingMessage): OutgoingHttpHeaders {
  const passed = Object.fromEntries(
    PASSED.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
  const length = headers['content-length'];
  const framing: OutgoingHttpHeaders = !WITH_BODY.has(method)
    ? {}
    : headers['transfer-encoding'] === undefined
      ? { 'content-length': length ?? '0' }
      : { 'transfer-encoding': 'chunked' };
  return { ...passed, ...framing, via: VIA, 'x-request-id': `${REQUEST_ID}${newId('r')}` };
}

function answerHeaders({ headers }: IncomingMessage): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !WITHHELD.includes(name)));
}

/** In the form of the control plane's own refusals. */
function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const problem = toProblem(error);
  const { retryAfterSeconds } = problem;
  response.writeHead(problem.status, {
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
    // The rest of its body is not read.
    connection: 'close',
    ...(typeof retryAfterSeconds === 'number' && { 'retry-after': String(retryAfterSeconds) }),
  });
  response.end(JSON.stringify(problem));
}
