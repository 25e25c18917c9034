import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { MeshError, toProblem } from '../core/base/errors.ts';
import { refuseForeignHost } from '../core/base/host-check.ts';
import type { AnyOperation } from '../core/base/operation.ts';
import type { Log } from '../core/base/ports.ts';
import { requestIdOf } from '../core/base/request-id.ts';
import type { Gate } from '../core/call/invoke.ts';
import { logFailure } from '../core/call/log-failure.ts';
import type { Services } from '../core/workflow/services.ts';
import { buildDebug } from './debug.ts';
import { buildEvents, type EventLimits } from './events.ts';
import { buildEvidence, EVIDENCE_PATH } from './evidence.ts';
import { LOG_TILES_PATH, serveLogTiles } from './log-tiles.ts';
import type { Metrics } from './metrics.ts';
import { type MetricsAccess, serveMetrics } from './metrics-access.ts';
import { fromHttpError, sendProblem } from './problem.ts';
import { limitRate, type RateLimit } from './rate-limit.ts';
import { type ReadyCheck, serveReadiness } from './readiness.ts';
import { buildRouter, type FixedRoute } from './router.ts';
import { STRICT_TRANSPORT_SECURITY, securityHeaders } from './security-headers.ts';
import type { ArchiveLimits } from './send-archive.ts';
import type { TrustProxy } from './trusted-proxies.ts';

export interface AppOptions {
  readonly operations: readonly AnyOperation<Services>[];
  readonly gate: Gate<Services>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Returns the checks of /readyz: ready unless one of them failed. */
  readonly ready: () => Promise<readonly ReadyCheck[]>;
  /** Aborted when the plane stops: readers of streams are told to connect again. */
  readonly stopping?: AbortSignal;
  readonly limits?: {
    /** `off` for benchmarks on the loopback; else 6,000 a minute and source, 30,000 of a principal. */
    readonly rate?: RateLimit | 'off';
    readonly events?: EventLimits;
    readonly archives?: ArchiveLimits;
  };
  /** Answers /mcp. */
  readonly mcp?: RequestHandler;
  /** Answers the paths of OAuth. */
  readonly oauth?: RequestHandler;
  /** Answers the paths of SCIM. */
  readonly scim?: RequestHandler;
  /** Answers what nothing else does, such as the dashboard at /. */
  readonly dashboard?: RequestHandler;
  readonly trustProxy?: TrustProxy;
  /** Names of this control plane, in lower case, besides those of the loopback. */
  readonly hosts?: ReadonlySet<string>;
  /** Tells whether root, or the user of this process, holds the other end of a connection on this machine; nobody does without. */
  readonly isHostUser?: (socket: Socket) => Promise<boolean>;
  /** The callers that may read /metrics; everyone unless set. */
  readonly metricsAccess?: MetricsAccess;
}

const DEFAULT_RATE: RateLimit = { perMinute: 6_000 };

/** The HTTP face: the operations under /api/v1, events, health, metrics, and what is handed in. */
export function buildApp(options: AppOptions): RequestListener {
  const {
    operations,
    gate,
    log,
    metrics,
    ready,
    stopping,
    limits = {},
    mcp,
    oauth,
    scim,
    dashboard,
    trustProxy,
    hosts = new Set(),
    metricsAccess = 'open',
    isHostUser,
  } = options;
  const headers = securityHeaders();
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  if (trustProxy !== undefined) app.set('trust proxy', trustProxy);

  const limit = limits.rate === 'off' ? undefined : limitRate(limits.rate ?? DEFAULT_RATE, gate.known);
  const checkHost = hostCheck(hosts, operations);
  app.use((request, response, next) => {
    if (request.secure) response.setHeader('Strict-Transport-Security', STRICT_TRANSPORT_SECURITY);
    next();
  });
  app.use(checkHost);
  if (limit) app.use(limit);
  const events = buildEvents({
    gate,
    log,
    metrics,
    headers,
    stopping,
    ...(limits.events && { limits: limits.events }),
  });
  const openapi = openApi(operations, gate.services.settings.version, headers);
  const debug = buildDebug({ operations, gate, log, metrics, headers });
  const evidence = buildEvidence({
    operations,
    gate,
    log,
    metrics,
    headers,
    ...(limits.archives && { limits: limits.archives }),
  });
  const fixed: Record<string, FixedRoute> = {
    '/api/v1/events': { method: 'GET', handler: events },
    '/api/v1/openapi.json': { method: 'GET', handler: openapi },
    ...(debug && { '/api/v1/ai/debug': { method: 'POST' as const, handler: debug } }),
    ...(evidence && { [EVIDENCE_PATH]: { method: 'POST' as const, handler: evidence } }),
  };
  const under = {
    [LOG_TILES_PATH]: { method: 'GET' as const, handler: serveLogTiles({ gate, log, metrics, headers }) },
  };
  const api = buildRouter({ operations, gate, log, metrics, headers, isHostUser, fixed, under });
  app.use(api);
  const serveMcp: RequestHandler | undefined =
    mcp &&
    ((request, response, next) => {
      response.setHeader('X-Content-Type-Options', 'nosniff');
      return mcp(request, response, next);
    });
  if (serveMcp) app.all('/mcp', serveMcp);

  app.use((_request, response, next) => {
    for (let index = 0; index < headers.length; index += 2) {
      response.setHeader(headers[index] ?? '', headers[index + 1] ?? '');
    }
    next();
  });
  app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
  app.get('/readyz', serveReadiness(ready, log));
  app.get('/metrics', serveMetrics(metrics, metricsAccess));
  if (oauth) app.use(oauth);
  if (scim) app.use(scim);
  if (dashboard) app.use(dashboard);
  app.use((request, _response, next) => next(new MeshError('not_found', `There is nothing at ${request.path}.`)));
  const fail = problemsOnly(log);
  // express tells an error handler by its four parameters.
  app.use((error: unknown, request: Request, response: Response, _next: () => void) => fail(error, request, response));
  // Only express can tell whom a proxy speaks for.
  // If the error handler of express itself fails, `fail` answers: express would answer in HTML.
  const others: RequestListener = (request, response) =>
    app(request as Request, response as Response, (error: unknown) => fail(error, request, response));
  if (trustProxy !== undefined) return others;
  const find = (path = '') => (path.startsWith('/api/v1/') ? api : path === '/mcp' ? serveMcp : undefined);
  return direct(find, [checkHost, ...(limit ? [limit] : [])], fail, others);
}

type Fail = (error: unknown, request: IncomingMessage, response: ServerResponse) => void;

/** Leads /api/v1 and /mcp past the dispatch of express, which costs more than most operations do; the rest goes through it. */
function direct(
  find: (path: string | undefined) => RequestHandler | undefined,
  before: readonly RequestHandler[],
  fail: Fail,
  others: RequestListener,
): RequestListener {
  return (incoming, outgoing) => {
    const serve = find(incoming.url);
    if (!serve) {
      others(incoming, outgoing);
      return;
    }
    // The handlers of these paths use nothing that express adds, but for `ip`, for which the socket stands in.
    const [request, response] = [incoming as Request, outgoing as Response];
    const failed = (error: unknown) => fail(error, incoming, outgoing);
    if ((incoming.socket as Partial<TLSSocket>).encrypted) {
      outgoing.setHeader('Strict-Transport-Security', STRICT_TRANSPORT_SECURITY);
    }
    const step = (index: number) => (error?: unknown) => {
      if (error) return failed(error);
      const handler = before[index];
      Promise.try(() => (handler ?? serve)(request, response, handler ? step(index + 1) : failed)).catch(failed);
    };
    step(0)();
  };
}

/** Asked by load balancers under any name, and tell nothing; /mcp makes the same check and refuses in its own form. */
const CHECKED_ELSEWHERE = new Set(['/healthz', '/readyz', '/mcp']);

function hostCheck(hosts: ReadonlySet<string>, operations: AppOptions['operations']): RequestHandler {
  const open = new Set<string>(operations.flatMap(({ access, http }) => (access === 'public' ? [http.path] : [])));
  return (request, _response, next) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const readsToken = path.startsWith('/api/v1/') && !open.has(path);
    const refusal = refuseForeignHost(request, hosts, readsToken);
    next(refusal && !CHECKED_ELSEWHERE.has(path) ? refusal : undefined);
  };
}

/** The document is made at its first reading and kept: operations never change while the process runs. */
function openApi(operations: AppOptions['operations'], version: string, headers: readonly string[]): RequestHandler {
  let text: string | undefined;
  return async (_request, response) => {
    const { openApiDocument } = await import('./openapi.ts');
    text ??= JSON.stringify(openApiDocument(operations, version));
    response.writeHead(200, [...headers, 'Content-Type', 'application/json; charset=utf-8']);
    response.end(text);
  };
}

/** Whatever went wrong outside an operation, as a problem: never HTML, never a stack. It throws nothing itself. */
function problemsOnly(log: Log): Fail {
  return (thrown, request, response) => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    const error = fromHttpError(thrown);
    const instance = (request.url ?? '').split('?', 1)[0] ?? '';
    const problem = toProblem(error, { instance, requestId });
    try {
      logFailure(log, error, problem, { method: request.method, path: instance });
    } catch {
      // The caller is to be answered all the same.
    }
    try {
      const headers = response.hasHeader('Content-Security-Policy') ? [] : securityHeaders();
      sendProblem(response, problem, [...headers, 'X-Request-Id', requestId]);
    } catch {
      response.destroy();
    }
  };
}
