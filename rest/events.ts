import { once } from 'node:events';
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import type { Caller } from '../core/caller.ts';
import { invalidInput, MeshError, toProblem } from '../core/errors.ts';
import { type Gate, invoke } from '../core/invoke.ts';
import { operationsFor, READ } from '../core/operation.ts';
import { originOf } from '../core/origin.ts';
import { type Commit, type Log, StoreError } from '../core/ports.ts';
import type { Kind } from '../core/record.ts';
import type { Scope } from '../core/scope.ts';
import type { Services } from '../core/services.ts';
import type { Metrics } from './metrics.ts';
import { fromHttpError, sendProblem } from './problem.ts';
import { requestIdOf } from './request-id.ts';
import { bearerOf } from './router.ts';

export interface EventLimits {
  /** Streams open at once in this process. */
  readonly maxStreams?: number;
  readonly keepAliveMs?: number;
}

export interface EventsOptions {
  readonly gate: Gate<Services>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly headers: readonly string[];
  readonly limits?: EventLimits;
}

const MAX_STREAMS = 1_000;
/** Below the idle time of common proxies (30 s and up); the token is checked again as often. */
const KEEP_ALIVE_MS = 15_000;
/** A reader that takes nothing for so long is cut; it resumes by Last-Event-ID. */
const STALL_MS = 30_000;

/** The scope that shows changes of a kind; kinds that are not here are never shown. */
const SCOPE_OF_KIND: Partial<Record<Kind, Scope>> = {
  MeshPeer: 'network:read',
  MeshPolicy: 'network:read',
  MeshNetwork: 'network:read',
  AgentIdentity: 'network:read',
  Presence: 'network:read',
  Workflow: 'network:read',
  PolicyAssertion: 'network:read',
  Snapshot: 'snapshots:read',
  Token: 'tokens:write',
  Member: 'members:write',
};

/** Opens a stream through the one path, so that it refuses exactly as an operation does. */
const openEvents = operationsFor<Services>()({
  name: 'watch_events',
  title: 'Watch changes',
  description: 'Changes of one workspace as server-sent events.',
  input: z.strictObject({}),
  output: z.custom<{ readonly workspace: string; readonly caller: Caller }>(),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['rate_limited'],
  http: { method: 'get', path: '/api/v1/events' },
  async run(_input, { workspace, caller }) {
    if (!caller) throw new MeshError('unauthenticated', 'Send a token in the header Authorization: Bearer <token>.');
    return { workspace, caller };
  },
});

/** GET /api/v1/events: one event per revision, its id the revision, resumed by Last-Event-ID. */
export function buildEvents({ gate, log, metrics, headers, limits = {} }: EventsOptions): RequestHandler {
  const { maxStreams = MAX_STREAMS, keepAliveMs = KEEP_ALIVE_MS } = limits;
  let open = 0;
  metrics.gauge('mesh_event_streams', 'Event streams open now', () => open);

  return async (request, response) => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    const abort = new AbortController();
    response.once('close', () => abort.abort());
    const bearer = bearerOf(request.headers.authorization);
    open++;
    try {
      if (open > maxStreams) {
        throw new MeshError('rate_limited', 'Too many event streams are open: try again later.', {
          retryAfterSeconds: 30,
        });
      }
      const { workspace, caller } = (await invoke(openEvents, callOf(request, requestId, bearer, abort), gate)) as {
        workspace: string;
        caller: Caller;
      };
      const from = await startOf(request, gate.services.store, workspace);
      response.writeHead(200, [
        ...headers,
        'Content-Type',
        'text/event-stream; charset=utf-8',
        'Cache-Control',
        'no-store',
        'X-Accel-Buffering',
        'no',
        'X-Request-Id',
        requestId,
      ]);
      response.write('retry: 3000\n\n');
      const reauthenticate = async () => {
        const now = await gate.authenticate(bearer ?? '', originOf(request));
        if (!now.scopesIn(workspace).has('network:read')) abort.abort();
      };
      const stopKeeping = keepAlive(response, abort, keepAliveMs, caller, gate.services.clock.now(), reauthenticate);
      try {
        await stream(response, gate.services.store, workspace, from, caller, abort.signal);
      } finally {
        stopKeeping();
      }
      response.end();
    } catch (thrown) {
      if (abort.signal.aborted && response.headersSent) {
        response.end();
      } else {
        const error = fromHttpError(thrown);
        if (!(error instanceof MeshError)) log.error({ err: error, requestId }, 'an event stream failed');
        const problem = toProblem(error, { instance: '/api/v1/events', requestId });
        sendProblem(response, problem, [...headers, 'X-Request-Id', requestId]);
      }
    } finally {
      open--;
    }
  };
}

function callOf(request: Request, requestId: string, bearer: string | undefined, { signal }: AbortController) {
  const query = new URL(request.url, 'http://mesh').searchParams;
  const header = request.headers['x-workspace-id'];
  return {
    raw: Object.fromEntries(query),
    bearer,
    workspaceHints: [Array.isArray(header) ? header[0] : header],
    face: 'rest' as const,
    origin: originOf(request),
    requestId,
    signal,
  };
}

/** The revision after which events begin: the reader's last one, else now. */
async function startOf(request: Request, store: Services['store'], workspace: string): Promise<number> {
  const last = request.headers['last-event-id'];
  const current = await store.revision(workspace);
  if (last === undefined) return current;
  const revision = Number(last);
  if (!/^\d{1,15}$/.test(String(last)) || revision > current) {
    throw invalidInput([{ pointer: '/Last-Event-ID', detail: 'Must be the id of an event of this workspace.' }]);
  }
  return revision;
}

/** Comments that keep proxies from cutting an idle stream; ends it with its token, or once that is revoked. */
function keepAlive(
  response: Response,
  abort: AbortController,
  keepAliveMs: number,
  { expiresAt }: Caller,
  now: number,
  reauthenticate: () => Promise<void>,
): () => void {
  const end = () => abort.abort();
  const beat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(': keep-alive\n\n');
    reauthenticate().catch(end);
  }, keepAliveMs);
  const maxTimerMs = 2 ** 31 - 1;
  const expiry = expiresAt === undefined ? undefined : setTimeout(end, Math.min(expiresAt - now, maxTimerMs));
  return () => {
    clearInterval(beat);
    clearTimeout(expiry);
  };
}

/** Pulls commits no faster than the reader takes them, so nothing piles up for a slow one. */
async function stream(
  response: Response,
  store: Services['store'],
  workspace: string,
  from: number,
  caller: Caller,
  signal: AbortSignal,
): Promise<void> {
  const scopes = caller.scopesIn(workspace);
  let after = from;
  while (!signal.aborted) {
    try {
      for await (const commit of store.watch(workspace, after, signal)) {
        after = commit.revision;
        const event = eventOf(commit, scopes);
        if (event && !response.write(event)) {
          await once(response, 'drain', { signal: AbortSignal.any([signal, AbortSignal.timeout(STALL_MS)]) });
        }
      }
      return;
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'compacted')) throw error;
      after = await store.revision(workspace);
      response.write(`id: ${after}\nevent: reset\ndata: {"revision":${after}}\n\n`);
    }
  }
}

/** Undefined when the reader may see none of the changes. Who made them is for auditors. */
function eventOf({ revision, at, actor, changes }: Commit, scopes: ReadonlySet<Scope>): string | undefined {
  const shown = changes.flatMap(({ type, record: { kind, name, uid } }) => {
    const scope = SCOPE_OF_KIND[kind];
    return scope && scopes.has(scope) ? [{ type, kind, name, id: uid }] : [];
  });
  if (shown.length === 0) return undefined;
  const data = {
    revision,
    at: new Date(at).toISOString(),
    ...(scopes.has('audit:read') && { actor }),
    changes: shown,
  };
  return `id: ${revision}\nevent: change\ndata: ${JSON.stringify(data)}\n\n`;
}
