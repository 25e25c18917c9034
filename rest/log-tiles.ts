import type { Request, RequestHandler } from 'express';
import { z } from 'zod';
import { makeCheckpoint } from '../core/audit/keep-checkpoints.ts';
import { leafDataOf } from '../core/audit/leaf.ts';
import { encodeBundle, hashesIn, hasTile, parseTilePath, TILE_WIDTH } from '../core/audit/tiles.ts';
import { MeshError, toProblem } from '../core/base/errors.ts';
import { SYSTEM_WORKSPACE } from '../core/base/ids.ts';
import { type CallContext, operationsFor, READ } from '../core/base/operation.ts';
import { originOf } from '../core/base/origin.ts';
import type { Log } from '../core/base/ports.ts';
import { requestIdOf } from '../core/base/request-id.ts';
import type { Access } from '../core/base/scope.ts';
import { type Gate, invoke } from '../core/call/invoke.ts';
import { logFailure } from '../core/call/log-failure.ts';
import { requireMember, requireWholeLog } from '../core/identity/audit-reach.ts';
import type { Services } from '../core/workflow/services.ts';
import { credentialOf } from './credential.ts';
import type { Metrics } from './metrics.ts';
import { fromHttpError, sendProblem } from './problem.ts';

/** Below it stands each log as c2sp.org/tlog-tiles lays it out, under the id of its workspace (docs/audit.md). */
export const LOG_TILES_PATH = '/api/v1/audit/logs/';
/** In place of a workspace: the log of the installation. */
const INSTALLATION = 'installation';

interface LogTilesOptions {
  readonly gate: Gate<Services>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly headers: readonly string[];
}

interface LogResource {
  readonly body: string | Uint8Array;
  readonly type: string;
  readonly isImmutable: boolean;
}

type Serve = (path: string, context: CallContext<Services>) => Promise<LogResource | undefined>;

const OCTETS = 'application/octet-stream';
/** Allows only the caller's own cache: a shared cache does not know who may read. */
const IMMUTABLE = 'private, max-age=31536000, immutable';

const readCheckpoint = resource('read_log_checkpoint', 'authenticated', async (_path, { services, workspace }) => {
  const { note } = await makeCheckpoint(services, workspace);
  return { body: note, type: 'text/plain; charset=utf-8', isImmutable: false };
});

const readTile = resource('read_log_tile', 'authenticated', async (path, { services, workspace }) => {
  const tile = parseTilePath(path);
  const tree = services.store.auditTree(workspace);
  if (!tile || tile.level === 'entries' || !hasTile(tile, await tree.size())) return undefined;
  const hashes = await tree.hashes(hashesIn(tile, tile.level));
  return { body: Buffer.concat(hashes), type: OCTETS, isImmutable: true };
});

const readEntries = resource('read_log_entries', 'audit:read', async (path, context) => {
  const tile = parseTilePath(path);
  await requireWholeLog(context);
  const tree = context.services.store.auditTree(context.workspace);
  if (!tile || !hasTile(tile, await tree.size())) return undefined;
  const entries = await tree.entries(tile.index * TILE_WIDTH, tile.width);
  return { body: encodeBundle(entries.map(leafDataOf)), type: OCTETS, isImmutable: true };
});

const readEntry = resource('read_log_entry', 'audit:read', async (path, context) => {
  const [, seq] = /^entry\/(0|[1-9]\d{0,14})$/.exec(path) ?? [];
  await requireWholeLog(context);
  if (seq === undefined) return undefined;
  const [entry] = await context.services.store.auditTree(context.workspace).entries(Number(seq), 1);
  return entry === undefined ? undefined : { body: entry, type: 'application/json; charset=utf-8', isImmutable: true };
});

/** GET below `LOG_TILES_PATH`. */
export function serveLogTiles({ gate, log, metrics, headers }: LogTilesOptions): RequestHandler {
  return async (request, response) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(request.headers['x-request-id']);
    const abort = new AbortController();
    response.once('close', () => abort.abort());
    const [target = ''] = request.url.split('?', 1);
    const [name = '', path = ''] = splitAt(target.slice(LOG_TILES_PATH.length), '/');
    const operation = operationFor(path);
    let status = 200;
    try {
      const call = callOf(request, { name, path, requestId, signal: abort.signal });
      const { body, type, isImmutable } = (await invoke(operation, call, gate)) as LogResource;
      response.writeHead(status, [
        ...headers,
        'Content-Type',
        type,
        'Cache-Control',
        isImmutable ? IMMUTABLE : 'no-store',
        'X-Request-Id',
        requestId,
        'Content-Length',
        String(Buffer.byteLength(body)),
      ]);
      response.end(body);
    } catch (thrown) {
      const error = fromHttpError(thrown);
      const problem = toProblem(error, { instance: target, requestId });
      status = problem.status;
      logFailure(log, error, problem, { operation: operation.name });
      sendProblem(response, problem, [...headers, 'X-Request-Id', requestId]);
    } finally {
      const labels = { operation: operation.name, status: String(status) };
      const seconds = (performance.now() - startedAt) / 1_000;
      metrics.observe('mesh_http_request_duration_seconds', 'Time to answer', labels, seconds);
    }
  };
}

/** Goes through the one path, so that it refuses exactly as an operation does. */
function resource(name: string, access: Access, serve: Serve) {
  return operationsFor<Services>()({
    name,
    title: 'Audit log',
    description: 'A part of an audit log, as c2sp.org/tlog-tiles lays it out.',
    input: z.strictObject({ log: z.string(), path: z.string() }),
    output: z.custom<LogResource>(),
    access,
    workspace: 'scoped',
    orInstallation: true,
    edition: 'community',
    effects: READ,
    problems: ['forbidden', 'beyond_delegation', 'not_found', 'unavailable'],
    http: { method: 'get', path: LOG_TILES_PATH },
    async run({ log, path }, context) {
      requireMember(context);
      // A caller that names no workspace gets its only one, which is not what was asked for here.
      const isAsked = (log === INSTALLATION) === (context.workspace === SYSTEM_WORKSPACE);
      const served = isAsked ? await serve(path, context) : undefined;
      if (!served) throw new MeshError('not_found', `The log ${log} has nothing at ${path}: see docs/audit.md.`);
      return served;
    },
  });
}

function operationFor(path: string) {
  if (path === 'checkpoint') return readCheckpoint;
  if (path.startsWith('entry/')) return readEntry;
  return parseTilePath(path)?.level === 'entries' ? readEntries : readTile;
}

function callOf(
  request: Request,
  { name, path, requestId, signal }: { name: string; path: string; requestId: string; signal: AbortSignal },
) {
  return {
    raw: { log: name, path },
    bearer: credentialOf(request),
    workspaceHints: name === INSTALLATION ? [] : [name],
    face: 'rest' as const,
    origin: originOf(request),
    requestId,
    signal,
  };
}

function splitAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
