import type { Socket } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';
import { MeshError, type Problem, toProblem } from '../core/base/errors.ts';
import { type AnyOperation, type HttpBinding, isPending, mayWait } from '../core/base/operation.ts';
import { originOf } from '../core/base/origin.ts';
import type { Log } from '../core/base/ports.ts';
import { requestIdOf } from '../core/base/request-id.ts';
import { type CallRequest, type Gate, invoke } from '../core/call/invoke.ts';
import { logFailure } from '../core/call/log-failure.ts';
import { mergedText, pagesOf } from '../core/call/merged-pages.ts';
import { requireAnswerSize } from '../core/compute/answer-size.ts';
import { JsonText } from '../core/compute/compute.ts';
import { WIRE_HEADER, WIRE_TEXT } from '../core/model/wire.ts';
import { YamlText } from '../core/views/custom-resource.ts';
import type { Services } from '../core/workflow/services.ts';
import { prefersYaml, wantsEvents } from './accept.ts';
import { readFields } from './body.ts';
import {
  browserKeyOf,
  cookieOf,
  credentialOf,
  endedCookie,
  endedKeyCookie,
  isOwnPage,
  keepsSession,
  keyCookie,
  newBrowserKey,
} from './credential.ts';
import { answersRecord, entityTagIn, parseIfMatch } from './entity-tags.ts';
import { buildCoercion } from './input.ts';
import type { Metrics } from './metrics.ts';
import { fromHttpError, sendProblem } from './problem.ts';
import { bodyLimitOf } from './read-body.ts';
import { buildRoutes } from './routes.ts';
import { sendPieces } from './send-pieces.ts';
import { sendStages } from './send-stages.ts';

export interface RouterOptions {
  readonly operations: readonly AnyOperation<Services>[];
  readonly gate: Gate<Services>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Tells whether root, or the user of this process, holds the other end of a connection on this machine; nobody does without. */
  readonly isHostUser?: ((socket: Socket) => Promise<boolean>) | undefined;
  /** Raw name, value pairs put on every answer. */
  readonly headers: readonly string[];
  /** Routes, by path, for one method under a path of no operation. */
  readonly fixed?: Readonly<Record<string, FixedRoute>>;
  /** Routes, by prefix, for one method under every path that begins so. */
  readonly under?: Readonly<Record<string, FixedRoute>>;
}

export interface FixedRoute {
  readonly method: 'GET' | 'POST';
  readonly handler: RequestHandler;
}

const JSON_HEADERS = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];
const YAML_HEADERS = ['Content-Type', 'application/yaml; charset=utf-8', 'Cache-Control', 'no-store'];

/** Answers every path under /api/v1 from the operations; what is none of theirs is a problem 404 or 405. */
export function buildRouter(options: RouterOptions): RequestHandler {
  const find = buildRoutes(options.operations);
  const fixed = new Map(Object.entries(options.fixed ?? {}));
  const under = Object.entries(options.under ?? {});
  const answers = new Map(options.operations.map((operation) => [operation, buildAnswer(operation, options)]));

  return (request, response, next) => {
    const { method, url } = request;
    if (!url.startsWith('/api/v1/')) {
      next();
      return;
    }
    const queryAt = url.indexOf('?');
    const path = queryAt < 0 ? url : url.slice(0, queryAt);
    const match = find(method, path);
    const other = match ? undefined : (fixed.get(path) ?? under.find(([prefix]) => path.startsWith(prefix))?.[1]);
    if (other?.method === method) return other.handler(request, response, next);
    if (other) {
      next(new MeshError('method_not_allowed', `${path} answers ${other.method} only.`, { allow: [other.method] }));
      return;
    }
    if (!match) {
      next(new MeshError('not_found', `There is no route ${path}. See /api/v1/openapi.json.`));
      return;
    }
    if ('allow' in match) {
      const allow = match.allow.join(', ');
      next(new MeshError('method_not_allowed', `${path} answers ${allow} only.`, { allow: match.allow }));
      return;
    }
    const search = queryAt < 0 ? '' : url.slice(queryAt + 1);
    return answers.get(match.route.operation)?.(request, response, { path, search, match });
  };
}

interface Target {
  readonly path: string;
  readonly search: string;
  readonly match: { readonly route: { readonly params: readonly string[] }; readonly values: readonly string[] };
}

/** Everything that does not depend on the request is worked out here, once. */
function buildAnswer(operation: AnyOperation<Services>, { gate, log, metrics, headers, isHostUser }: RouterOptions) {
  const { http, name, effects } = operation;
  const coerce = buildCoercion(operation.input);
  const status = http.status ?? 200;
  const takesBody = http.method !== 'get';
  const bodyLimit = bodyLimitOf(operation.access);
  const enrols = operation.access === 'enrolment';
  // An operation that the edition lacks is refused before its input is read: no other fault is reported first.
  const isReadable = operation.edition !== 'pro' || gate.edition === 'pro';
  const open = [...headers, WIRE_HEADER, WIRE_TEXT, ...(operation.shows ? ['Vary', 'Accept'] : [])];
  const hasTag = answersRecord(operation);
  const isComputed = effects.readOnlyHint || operation.cost !== undefined;
  const takesJsonText = !http.envelope && !http.otherStatus;

  return async (request: Parameters<RequestHandler>[0], response: Response, { path, search, match }: Target) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(request.headers['x-request-id']);
    const origin = originOf(request);
    const abort = new AbortController();
    const leave = () => abort.abort();
    // Stop computing when the caller may have gone: a half-closed connection can be a closed one.
    if (isComputed) request.socket.once('end', leave);
    response.once('close', () => {
      request.socket.off('end', leave);
      if (!response.writableFinished) leave();
    });
    if (response.destroyed || request.socket.destroyed) leave();
    let answered = status;
    let who: Parameters<NonNullable<CallRequest['onAdmitted']>>[0] | undefined;
    let failure: { readonly error: unknown; readonly problem: Problem } | undefined;
    try {
      const asked = isReadable ? coerce.query(search) : {};
      const body = takesBody && isReadable ? await readFields(request, http, bodyLimit) : undefined;
      // Spread, not assigned: a key `__proto__` stays a key, and is refused as one.
      const raw: Record<string, unknown> = { ...asked, ...body?.fields };
      let workspace: string | undefined;
      for (const [index, param] of isReadable ? match.route.params.entries() : []) {
        const value = coerce.param(param, match.values[index] ?? '');
        if (param === 'workspaceId') workspace = String(value);
        else raw[param] = value;
      }
      const browserKey = keyOfBrowser(http, request);
      const call: CallRequest = {
        raw,
        bearer: credentialOf(request) ?? (enrols ? takeToken(raw, operation) : undefined),
        workspaceHints: [workspace, headerOf(request.headers['x-workspace-id'])],
        face: 'rest',
        origin,
        ...(isHostUser && { isFromHost: () => isHostUser(request.socket) }),
        ...(browserKey !== undefined && { browserKey }),
        wire: headerOf(request.headers[WIRE_HEADER.toLowerCase()]),
        requestId,
        signal: abort.signal,
        readAt: startedAt,
        onAdmitted: (admitted) => {
          who = admitted;
        },
        takesJsonText,
        isMergePatch: body?.isMergePatch ?? false,
        ...(operation.shows && { asYaml: prefersYaml(request.headers.accept) }),
        ifMatch: takesBody ? parseIfMatch(request.headers['if-match']) : undefined,
      };
      if (http.joinsPages) {
        const pieces = mergedText(pagesOf(operation, call, gate));
        const cut = await sendPieces(response, pieces, status, [...open, ...JSON_HEADERS, 'X-Request-Id', requestId]);
        if (cut && !abort.signal.aborted) log.warn({ err: cut, requestId, operation: name }, 'an answer was cut off');
        return;
      }
      if (http.tellsStages && wantsEvents(request.headers.accept)) {
        const run = (onStage: (text: string) => void) =>
          invoke(operation, { ...call, takesJsonText: false, onStage }, gate);
        const failed = await sendStages(response, run, {
          headers: [...open, 'X-Request-Id', requestId],
          signal: abort.signal,
          problemOf: (thrown) => toProblem(fromHttpError(thrown), { instance: path, requestId }),
        });
        if (failed === undefined) return;
        failure = { error: failed, problem: toProblem(failed, { requestId }) };
        answered = failure.problem.status;
        return;
      }
      const value = await invoke(operation, call, gate);
      answered = statusOf(operation, value);
      if (answered === 204) {
        response.writeHead(answered, [...headers, 'X-Request-Id', requestId]);
        response.end();
        return;
      }
      const wraps = http.envelope && answered !== 202;
      const text = bodyOf(wraps ? { [http.envelope]: value } : value);
      const tag = hasTag ? entityTagIn(value instanceof YamlText ? value.of : value) : undefined;
      response.writeHead(answered, [
        ...open,
        ...(value instanceof YamlText ? YAML_HEADERS : JSON_HEADERS),
        ...(tag ? ['ETag', tag] : []),
        ...cookieHeaders(http.session, request, raw, value),
        ...keyHeaders(http, request, browserKey),
        'X-Request-Id',
        requestId,
        'Content-Length',
        String(Buffer.byteLength(text)),
      ]);
      response.end(text);
    } catch (thrown) {
      const error = fromHttpError(thrown);
      const problem = toProblem(error, { instance: path, requestId });
      answered = problem.status;
      failure = { error, problem };
      sendProblem(response, problem, [...headers, 'X-Request-Id', requestId]);
    } finally {
      const seconds = (performance.now() - startedAt) / 1_000;
      metrics.observe(
        'mesh_http_request_duration_seconds',
        'Time to answer',
        { operation: name, status: String(answered) },
        seconds,
      );
      const fields = {
        requestId,
        operation: name,
        ...who,
        address: origin,
        ms: Math.round(seconds * 1_000),
      };
      if (failure) logFailure(log, failure.error, failure.problem, fields);
      else log[effects.readOnlyHint ? 'debug' : 'info']({ ...fields, status: answered }, 'request');
    }
  };
}

/** A browser keeps a session where its person asked for it, and forgets it when it ends. */
function cookieHeaders(
  session: HttpBinding['session'],
  request: Request,
  asked: Readonly<Record<string, unknown>>,
  answer: unknown,
): readonly string[] {
  if (!session || !isOwnPage(request.headers)) return [];
  if (session === 'ends') return ['Set-Cookie', endedCookie(request)];
  if (asked['staySignedIn'] === true)
    return ['Set-Cookie', cookieOf(request, answer as { token: string; expiresAt: string })];
  // Else the session of who was there before would come back once this one ends.
  return keepsSession(request) ? ['Set-Cookie', endedCookie(request)] : [];
}

function keyOfBrowser({ browserKey }: HttpBinding, request: Request): string | undefined {
  if (browserKey === undefined) return undefined;
  return browserKey === 'made' ? newBrowserKey(request) : browserKeyOf(request);
}

/** A browser keeps a key from the call that made it to the one that uses it. */
function keyHeaders({ browserKey }: HttpBinding, request: Request, key: string | undefined): readonly string[] {
  if (key === undefined) return [];
  return ['Set-Cookie', browserKey === 'made' ? keyCookie(request, key) : endedKeyCookie(request)];
}

/** 202 for what waits for a person. */
function statusOf(operation: AnyOperation<Services>, answer: unknown): number {
  const { status = 200, otherStatus } = operation.http;
  if (mayWait(operation) && isPending(answer)) return 202;
  return otherStatus?.when(answer) ? otherStatus.status : status;
}

/** @throws MeshError `payload_too_large` */
function bodyOf(value: unknown): string | Uint8Array {
  if (value instanceof JsonText) return value.bytes;
  const text = value instanceof YamlText ? value.text : JSON.stringify(value ?? null);
  requireAnswerSize(text.length);
  return text;
}

/** A device may send its join token as the body field `token` instead (docs/wire.md#enrolment). */
function takeToken(raw: Record<string, unknown>, { input }: AnyOperation<Services>): string | undefined {
  const { token } = raw;
  if (!('token' in input.shape)) delete raw['token'];
  return typeof token === 'string' ? token : undefined;
}

function headerOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
