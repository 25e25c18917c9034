import type { Request, RequestHandler } from 'express';
import { z } from 'zod';
import type { Caller } from '../core/base/caller.ts';
import { MeshError, toProblem } from '../core/base/errors.ts';
import { pastInstant as instant } from '../core/base/moment-text.ts';
import { type AnyOperation, operationsFor, READ } from '../core/base/operation.ts';
import { originOf } from '../core/base/origin.ts';
import type { Log } from '../core/base/ports.ts';
import { createQuotas, type Quotas, quotaKeysOf } from '../core/base/quotas.ts';
import { requestIdOf } from '../core/base/request-id.ts';
import { lineOfText, TEXT_LIMITS } from '../core/base/text.ts';
import { type CallRequest, type Gate, invoke } from '../core/call/invoke.ts';
import { logFailure } from '../core/call/log-failure.ts';
import { rangeOf } from '../core/history/pair/range.ts';
import { protocolSchema } from '../core/model/policy.ts';
import type { Services } from '../core/workflow/services.ts';
import { readFields } from './body.ts';
import { credentialOf } from './credential.ts';
import { eventsOf } from './debug-events.ts';
import { markAfter, runIds } from './debug-ids.ts';
import { type DebugEvent, type DebugRun, DebugRuns, notResumable } from './debug-runs.ts';
import type { Metrics } from './metrics.ts';
import { fromHttpError, sendProblem } from './problem.ts';
import { eventText, keepAlive, STREAM_HEADERS, writeTo } from './sse.ts';

export interface DebugOptions {
  readonly operations: readonly AnyOperation<Services>[];
  readonly gate: Gate<Services>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly headers: readonly string[];
}

const PATH = '/api/v1/ai/debug';
/** Open at once in this process; each may hold a computing thread. */
const MAX_STREAMS = 100;

const peer = lineOfText(TEXT_LIMITS.reference).min(1).optional().describe('Peer (name, id, address) or label=value');

/** The body of a question: in plain words, or typed. */
export const debugInput = z.strictObject({
  question: lineOfText(TEXT_LIMITS.note).min(1).optional().describe('In plain words; or else both src and dst'),
  src: peer,
  dst: peer,
  protocol: protocolSchema.optional(),
  port: z.int().min(1).max(65_535).optional(),
  time_range: z.strictObject({ from: instant, to: instant }),
});

interface OpenStream {
  readonly workspace: string;
  readonly caller: Caller;
  readonly asked: DebugRun['asked'];
  readonly release: () => void;
}

/** Opens a stream through the one path, so that it refuses exactly as an operation does. */
function openOperation(streams: Quotas) {
  return operationsFor<Services>()({
    name: 'debug_connectivity',
    title: 'AI debug',
    description: 'What changed a connection, as server-sent events.',
    input: debugInput,
    output: z.custom<OpenStream>(),
    access: 'snapshots:read',
    workspace: 'scoped',
    edition: 'pro',
    effects: READ,
    problems: ['invalid_input', 'not_found', 'expired', 'rate_limited'],
    http: { method: 'post', path: PATH },
    async run({ time_range: { from, to }, ...asked }, { services, workspace, caller }): Promise<OpenStream> {
      if (!caller) throw new MeshError('unauthenticated', 'Send a token in the header Authorization: Bearer <token>.');
      // Refuses a wrong range before the stream begins.
      await rangeOf(services, workspace, { from, to }, '/time_range');
      const release = streams.take(quotaKeysOf(caller, [workspace]));
      return { workspace, caller, asked: { ...asked, from, to }, release };
    },
  });
}

/**
 * POST /api/v1/ai/debug: the answer of `find_cause` as events. A reader that was cut off sends the same request again with
 * `Last-Event-ID`; without a reader nothing is computed, so what was not yet known is computed then.
 *
 * @returns undefined where there is no operation that finds causes
 */
export function buildDebug({ operations, gate, log, metrics, headers }: DebugOptions): RequestHandler | undefined {
  if (!operations.some(({ name }) => name === 'find_cause')) return undefined;
  const streams = createQuotas('debug streams', MAX_STREAMS);
  const open = openOperation(streams);
  const runs = new DebugRuns(
    gate.services.clock,
    runIds(gate.services.keys, gate.services.clock),
    gate.services.shared,
  );
  metrics.gauge('mesh_debug_streams', 'Debug streams open now', () => streams.held);

  return async (request, response) => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    const abort = new AbortController();
    response.once('close', () => abort.abort());
    const undo: (() => void)[] = [];
    try {
      const { fields = {} } = gate.edition === 'pro' ? await readFields(request, { method: 'post' }) : {};
      const call = callOf(request, fields, requestId, abort.signal);
      const opened = (await invoke(open, call, gate)) as OpenStream;
      undo.push(opened.release);
      const { run, seen, mark: known } = await runOf(runs, request, opened);
      undo.push(() => void runs.keep(run));
      undo.push(runs.read(run, () => abort.abort()));
      const { ifMatch: _, ...plain } = call;
      const keep = () => runs.keep(run);
      const source = { operations, gate, log, call: plain, caller: opened.caller, keep };
      const events = eventsOf(run, source)[Symbol.asyncIterator]();
      let [sent, mark] = [0, ''];
      const next = async (): Promise<DebugEvent | undefined> => {
        const { value, done } = await events.next();
        if (done) return undefined;
        sent += 1;
        mark = markAfter(mark, value);
        return value;
      };
      // Whoever was told other events than are computed now is not to put the two together.
      if (known !== undefined) {
        while (sent < seen && (await next()));
        if (mark !== known && !abort.signal.aborted) throw notResumable();
      }
      response.writeHead(200, [...headers, ...STREAM_HEADERS, 'X-Request-Id', requestId]);
      response.write('retry: 3000\n\n');
      undo.push(keepAlive(response));
      for (let event = await next(); event; event = await next()) {
        if (sent <= seen) continue;
        await writeTo(response, eventText({ id: `${run.id}.${sent}.${mark}`, ...event }), abort.signal);
        if (abort.signal.aborted) break;
      }
      if (response.writableNeedDrain) response.destroy();
      else response.end();
    } catch (thrown) {
      if (abort.signal.aborted) {
        response.destroy();
        return;
      }
      const error = fromHttpError(thrown);
      const problem = toProblem(error, { instance: PATH, requestId });
      logFailure(log, error, problem, { operation: open.name });
      sendProblem(response, problem, [...headers, 'X-Request-Id', requestId]);
    } finally {
      for (const step of undo) step();
    }
  };
}

function callOf(request: Request, raw: CallRequest['raw'], requestId: string, signal: AbortSignal): CallRequest {
  const header = request.headers['x-workspace-id'];
  return {
    raw,
    bearer: credentialOf(request),
    workspaceHints: [Array.isArray(header) ? header[0] : header],
    face: 'rest',
    origin: originOf(request),
    requestId,
    signal,
  };
}

async function runOf(runs: DebugRuns, request: Request, { workspace, caller, asked }: OpenStream) {
  const last = request.headers['last-event-id'];
  if (last === undefined) {
    const run = runs.begin(workspace, caller, asked);
    await runs.keep(run);
    return { run, seen: 0, mark: undefined };
  }
  return runs.resume(String(last), workspace, caller, asked);
}
