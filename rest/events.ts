import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import type { Caller } from '../core/base/caller.ts';
import { invalidInput, MeshError, toProblem } from '../core/base/errors.ts';
import { operationsFor, READ } from '../core/base/operation.ts';
import { originOf } from '../core/base/origin.ts';
import { type Clock, type Log, StoreError } from '../core/base/ports.ts';
import { createQuotas, type Quotas, quotaKeysOf } from '../core/base/quotas.ts';
import { requestIdOf } from '../core/base/request-id.ts';
import { buildAccessWatch, goElsewhere } from '../core/call/access-watch.ts';
import { type Gate, invoke, requireStillAllowed } from '../core/call/invoke.ts';
import { logFailure } from '../core/call/log-failure.ts';
import { expiredToken } from '../core/model/token-record.ts';
import type { Services } from '../core/workflow/services.ts';
import { credentialOf } from './credential.ts';
import { eventTextOf } from './event-text.ts';
import type { Metrics } from './metrics.ts';
import { fromHttpError, sendProblem } from './problem.ts';
import { keepAlive, STREAM_HEADERS, writeTo } from './sse.ts';

export interface EventLimits {
  /** Streams open at once in this process. */
  readonly maxStreams?: number;
}

export interface EventsOptions {
  /** Aborted when the plane stops: readers are told to connect again. */
  readonly stopping?: AbortSignal | undefined;
  readonly gate: Gate<Services>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly headers: readonly string[];
  readonly limits?: EventLimits;
}

const MAX_STREAMS = 1_000;
interface OpenStream {
  readonly workspace: string;
  readonly caller: Caller;
  readonly release: () => void;
}

/** Opens a stream through the one path, so that it refuses exactly as an operation does. */
function openOperation(streams: Quotas) {
  return operationsFor<Services>()({
    name: 'watch_events',
    title: 'Watch changes',
    description: 'Changes of one workspace as server-sent events.',
    input: z.strictObject({}),
    output: z.custom<OpenStream>(),
    access: 'network:read',
    workspace: 'scoped',
    edition: 'community',
    effects: READ,
    problems: ['rate_limited'],
    http: { method: 'get', path: '/api/v1/events' },
    async run(_input, { workspace, caller }) {
      if (!caller) throw new MeshError('unauthenticated', 'Send a token in the header Authorization: Bearer <token>.');
      return { workspace, caller, release: streams.take(quotaKeysOf(caller, [workspace])) };
    },
  });
}

/** GET /api/v1/events: one event for each revision that shows something, its id the revision, resumed by Last-Event-ID. */
export function buildEvents({ gate, log, metrics, headers, limits = {}, stopping }: EventsOptions): RequestHandler {
  const { maxStreams = MAX_STREAMS } = limits;
  const { store, clock } = gate.services;
  const streams = createQuotas('event streams', maxStreams);
  const openEvents = openOperation(streams);
  const access = buildAccessWatch(gate);
  stopping?.addEventListener('abort', () => access.endAll(goElsewhere()));
  metrics.gauge('mesh_event_streams', 'Event streams open now', () => streams.held);

  return async (request, response) => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    const abort = new AbortController();
    response.once('close', () => abort.abort());
    const call = callOf(request, requestId, abort);
    const undo: (() => void)[] = [];
    try {
      const opened = (await invoke(openEvents, call, gate)) as OpenStream;
      undo.push(opened.release);
      const { workspace } = opened;
      const reader: Reader = { workspace, caller: opened.caller, signal: abort.signal, ready: access.settled };
      const from = await startOf(request, store, workspace);
      response.writeHead(200, [...headers, ...STREAM_HEADERS, 'X-Request-Id', requestId]);
      response.write('retry: 3000\n\n');
      let ended: MeshError | undefined;
      const end = (reason: MeshError) => {
        ended = reason;
        abort.abort();
      };
      const ongoing = { bearer: call.bearer ?? '', origin: call.origin, end };
      const check = async (caller: Caller) => {
        await requireStillAllowed(openEvents, caller, workspace, gate);
        reader.caller = caller;
      };
      undo.push(access.add({ ...ongoing, check }), keepAlive(response));
      undo.push(endWith(opened.caller, clock, end));
      await stream(response, store, from, reader).catch((error: unknown) => {
        if (!abort.signal.aborted) throw error;
      });
      if (response.writableNeedDrain) response.destroy();
      else response.end(ended && farewell(ended));
    } catch (thrown) {
      const error = fromHttpError(thrown);
      const problem = toProblem(error, { instance: '/api/v1/events', requestId });
      logFailure(log, error, problem, { operation: openEvents.name });
      sendProblem(response, problem, [...headers, 'X-Request-Id', requestId]);
    } finally {
      for (const step of undo) step();
    }
  };
}

function callOf(request: Request, requestId: string, { signal }: AbortController) {
  const query = new URL(request.url, 'http://mesh').searchParams;
  const header = request.headers['x-workspace-id'];
  return {
    raw: Object.fromEntries(query),
    bearer: credentialOf(request),
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

/** A timer does not hear that the clock went another way: it looks so often. */
const RECHECK_MS = 10_000;

/** Ends a stream with its token. */
function endWith({ expiresAt }: Caller, clock: Clock, end: (reason: MeshError) => void): () => void {
  if (expiresAt === undefined) return () => undefined;
  let timer: NodeJS.Timeout;
  const look = () => {
    const left = expiresAt - clock.now();
    if (left <= 0) end(expiredToken());
    else timer = setTimeout(look, Math.min(left, RECHECK_MS));
  };
  look();
  return () => clearTimeout(timer);
}

/** The last event of a stream whose reader may not go on. */
function farewell(reason: MeshError): string {
  const { code, detail } = toProblem(reason);
  return `event: end\ndata: ${JSON.stringify({ code, detail })}\n\n`;
}

interface Reader {
  readonly workspace: string;
  /** As of the last change of its rights. */
  caller: Caller;
  readonly signal: AbortSignal;
  /** Resolves when `caller` and `signal` are as every commit so far has left them. */
  readonly ready: () => Promise<void>;
}

/** Pulls commits no faster than the reader takes them, so nothing piles up for a slow one. */
async function stream(response: Response, store: Services['store'], from: number, reader: Reader): Promise<void> {
  const { workspace, signal } = reader;
  let after = from;
  while (!signal.aborted) {
    try {
      for await (const commit of store.watch(workspace, after, signal)) {
        await reader.ready();
        if (signal.aborted) return;
        after = commit.revision;
        const event = eventTextOf(commit, reader.caller.scopesIn(workspace));
        if (event) await writeTo(response, event, signal);
      }
      return;
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'compacted')) throw error;
      after = await store.revision(workspace);
      await reader.ready();
      if (signal.aborted) return;
      response.write(`id: ${after}\nevent: reset\ndata: {"revision":${after}}\n\n`);
    }
  }
}
