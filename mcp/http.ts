import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  classifyInboundRequest,
  createMcpHandler,
  isJsonContentType,
  type ServerContext,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import { ANONYMOUS, type Caller } from '../core/base/caller.ts';
import { MeshError, toProblem } from '../core/base/errors.ts';
import { refuseForeignHost } from '../core/base/host-check.ts';
import { newId } from '../core/base/ids.ts';
import { originOf } from '../core/base/origin.ts';
import { createQuotas, quotaKeysOf } from '../core/base/quotas.ts';
import { requestIdOf } from '../core/base/request-id.ts';
import type { SharedState } from '../core/base/shared.ts';
import { buildAccessWatch, goElsewhere } from '../core/call/access-watch.ts';
import { logFailure } from '../core/call/log-failure.ts';
import { awaitCommits } from '../core/call/resolve-workspace.ts';
import { NotAdmitted } from '../core/identity/issued-access.ts';
import { offeredScopes } from '../core/model/authorization-server.ts';
import { addressesOf, isOwnResource, OFFERED_OAUTH_SCOPES } from '../core/model/oauth.ts';
import { accepts } from '../rest/accept.ts';
import { codeOfUnread, readMessage } from './body.ts';
import { answerCors, METHODS } from './cors.ts';
import { endWithToken, lastingCaller } from './end-with-token.ts';
import { MissingScope, missingScope, scopesOfTools } from './missing-scope.ts';
import { type Challenge, sendChallenge, sendRpcError } from './refusal.ts';
import { urisOf } from './resources.ts';
import { buildServerFactory } from './server.ts';
import { createSessions, type Session, type SessionLimits } from './sessions.ts';
import { buildSubscriptions, isListening } from './subscriptions.ts';
import type { McpOptions, Principal } from './surface.ts';
import { workspacesOf } from './tools.ts';
import { type AuthenticatedRequest, EVENTS_TYPE, JSON_TYPE, serveFetch } from './web-exchange.ts';

export interface McpHttpOptions extends McpOptions {
  /** Names of this control plane, in lower case, besides those of the loopback. */
  readonly hosts?: ReadonlySet<string>;
  readonly sessions?: SessionLimits;
  /** Where several control planes keep sessions together, so that each request of one may reach another of them. */
  readonly shared?: Pick<SharedState, 'cells'> | undefined;
  /** Subscriptions of the current revision, open at once in this process. */
  readonly maxSubscriptions?: number;
}

export interface McpEndpoint {
  /** Answers /mcp, for express or node:http. `origin` is the source address where a proxy stands in front. */
  handle(request: IncomingMessage & { ip?: string | undefined }, response: ServerResponse): Promise<void>;
  /** Tells subscribers; changes of the store are told already. */
  readonly notify: ServerNotifier;
  readonly sessionCount: () => number;
  /** Ends every session of the 2025 era; their clients open new ones. */
  endSessions(): void;
  /** Ends streams and sessions, and tells their clients to open new ones; calls under way are answered before. */
  leave(): void;
  close(): Promise<void>;
}

const MAX_SUBSCRIPTIONS = 1_024;
const BEARER = /^Bearer +([\x21-\x7e]+)$/i;

/** MCP over Streamable HTTP for both eras: the current revision request by request, that of 2025 in sessions. */
export function buildMcp(options: McpHttpOptions): McpEndpoint {
  const { log, hosts = new Set(), sessions: limits = {}, shared, maxSubscriptions = MAX_SUBSCRIPTIONS } = options;
  const { clock, store, settings } = options.gate.services;
  const { authorizationServer } = settings;
  /** Scopes that a client is told to ask for. */
  const offered = authorizationServer ? offeredScopes(authorizationServer) : OFFERED_OAUTH_SCOPES;
  const isForMcp = (audience: string) => isOwnResource(audience, settings);
  /** Tokens of OAuth clients count here, and nowhere else. */
  const gate: McpOptions['gate'] = {
    ...options.gate,
    authenticate: (bearer, origin, how) => options.gate.authenticate(bearer, origin, { ...how, accepts: isForMcp }),
  };
  const factory = buildServerFactory({ ...options, gate });
  const scopeOfTool = scopesOfTools(options);
  const access = buildAccessWatch(gate);
  const sessions = createSessions({
    limits,
    clock,
    log,
    shared,
    build: (watching) => factory.build('legacy', principalOf, watching),
    begun: watchAccess,
  });
  let leaving: MeshError | undefined;
  const onerror = (error: Error) => log.debug({ reason: error.message }, 'an MCP request was refused');
  const modern = createMcpHandler(({ era }) => factory.build(era, principalOf), {
    legacy: 'reject',
    maxSubscriptions,
    onerror,
  });
  const shares = createQuotas('MCP subscriptions', maxSubscriptions);
  const { resources } = factory;
  const serveListening = buildSubscriptions({ clock, handler: modern, resources, access, shares });
  const stopListening = store.onCommit((commit) => {
    const uris = urisOf(commit);
    if (uris.size === 0) return;
    // Whom this commit, or one before, took the right from hears of it no more.
    void access.settled().then(() => {
      sessions.notify(uris);
      for (const uri of uris) modern.notify.resourceUpdated(uri);
    });
  });

  async function authenticate(request: AuthenticatedRequest, origin: string): Promise<Principal> {
    const readAt = performance.now();
    const bearer = BEARER.exec(request.headers.authorization ?? '')?.[1];
    if (!bearer) throw new MeshError('unauthenticated', 'Send a token in the header Authorization: Bearer <token>.');
    const hint = request.headers['x-workspace-id'];
    const workspaceHint = Array.isArray(hint) ? hint[0] : hint;
    await awaitCommits({ bearer, workspaceHints: [] }, undefined, gate);
    const caller = await gate.authenticate(bearer, origin);
    const requestId = requestIdOf(request.headers['x-request-id']);
    const principal: Principal = { caller, workspaceHint, origin, readAt, requestId };
    request.auth = { token: bearer, clientId: caller.subject, scopes: [], extra: { principal } };
    return principal;
  }

  async function serveLegacy(
    request: AuthenticatedRequest,
    response: ServerResponse,
    body: unknown,
    principal: Principal,
  ) {
    const { tokenId } = principal.caller;
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? await sessions.find(id, tokenId, request) : undefined;
    if (typeof id === 'string' && !known) {
      sendRpcError(response, 404, -32_001, 'There is no such session: initialize a new one.');
      return;
    }
    const isOpening = request.method === 'POST' && (body as { method?: unknown } | null)?.method === 'initialize';
    if (!known && !isOpening) {
      sendRpcError(response, 400, -32_000, 'Send the header Mcp-Session-Id, or initialize first.');
      return;
    }
    const session = known ?? (await openSession(request, principal, body));
    const isCall = request.method === 'POST';
    session.active++;
    if (isCall) session.calls++;
    response.once('close', () => {
      session.active--;
      if (isCall) session.calls--;
      if (!known) sessions.endUnlisted(session);
      if (leaving && session.calls === 0) sessions.leave(session, leaving);
    });
    if (!isCall) {
      const lasting = await lastingCaller(principal.caller);
      endWithToken(response, lasting, clock, (reason) => {
        if (lasting.audience === undefined) sessions.end(session, reason);
        // A client of OAuth opens another stream of the session with its next token.
        else if (response.headersSent) response.end();
        else response.destroy();
      });
    }
    // As when a control plane begins to stop at this moment.
    if (!(await sessions.handle(session, request, response, body)))
      await serveLegacy(request, response, body, principal);
  }

  async function openSession(request: AuthenticatedRequest, principal: Principal, body: unknown): Promise<Session> {
    const { caller } = principal;
    const own = await workspacesOf(principal, gate);
    // Where there are several, which one a session is for is not known.
    const keys = quotaKeysOf(caller, own.length === 1 ? own : []);
    return sessions.open({ tokenId: caller.tokenId, keys, body }, request);
  }

  /** Each control plane that has a session sees to it that it ends with the right to it. */
  function watchAccess(session: Session, request: AuthenticatedRequest): void {
    const principal = request.auth?.extra?.['principal'] as Principal;
    const check = async (caller: Caller) => {
      for (const uri of await sessions.watchedBy(session)) {
        if (!(await resources.mayWatch(uri, { ...principal, caller }))) await sessions.unwatch(session, uri);
      }
    };
    const end = (reason: MeshError) => {
      // Where it is this control plane that cannot go on, another one may.
      if (reason.code !== 'unavailable') sessions.end(session, reason);
      else if (!leaving || session.calls === 0) sessions.leave(session, reason);
    };
    session.holds.defer(
      access.add({
        bearer: request.auth?.token ?? '',
        origin: principal.origin,
        again: principal.caller.again,
        check,
        end,
      }),
    );
  }

  async function handle(
    request: IncomingMessage & { ip?: string | undefined },
    response: ServerResponse,
  ): Promise<void> {
    const origin = originOf(request);
    try {
      const refusal = refuseForeignHost(request, hosts);
      if (refusal) throw refusal;
      if (answerCors(request, response)) return;
      if (!METHODS.split(', ').includes(request.method ?? '')) {
        response.setHeader('Allow', METHODS);
        throw new MeshError('method_not_allowed', `/mcp answers ${METHODS} only.`);
      }
      const principal = await authenticate(request, origin);
      if (request.method === 'POST' && !isJsonContentType(request.headers['content-type'] ?? null)) {
        sendRpcError(response, 415, -32_000, 'Send the message as application/json.');
        return;
      }
      const body = request.method === 'POST' ? await readMessage(request) : undefined;
      // Another authorization server knows no scopes of tools: there the tool answers.
      const missing = authorizationServer ? undefined : missingScope(principal, body, scopeOfTool);
      if (missing) throw missing;
      const types = typesOf(request, body);
      if (types.length > 0 && !types.some((type) => accepts(request.headers.accept, type))) {
        sendRpcError(response, 406, -32_000, `Accept ${types.join(' or ')}: there is no other answer.`);
        return;
      }
      if (classify(request, body).kind === 'legacy') await serveLegacy(request, response, body, principal);
      else if (isListening(body)) await serveListening(request, response, body, principal);
      else await serveFetch(modern.fetch, request, response, body);
    } catch (error) {
      refuse(error, request, response, origin);
    }
  }

  function refuse(error: unknown, request: IncomingMessage, response: ServerResponse, origin: string): void {
    const requestId = newId('r');
    const problem = toProblem(error, { instance: '/mcp', requestId });
    logFailure(log, error, problem, { face: 'mcp' });
    const challenge = (scopes: readonly string[], why: Challenge['error']) => {
      const { resourceMetadata } = addressesOf(request, settings) ?? {};
      sendChallenge(response, problem, { resourceMetadata, scopes, error: why });
    };
    if (error instanceof NotAdmitted || (error instanceof MeshError && error.code === 'unauthenticated')) {
      const call = { raw: {}, bearer: undefined, workspaceHints: [], face: 'mcp' as const, origin, requestId };
      gate.refused('mcp', error, { ...call, signal: AbortSignal.timeout(1_000) }, ANONYMOUS);
    }
    if (error instanceof NotAdmitted && error.isOfScopes) {
      challenge(offered, 'insufficient_scope');
      return;
    }
    if (error instanceof MeshError && error.code === 'unauthenticated') {
      challenge(offered, request.headers.authorization ? 'invalid_token' : undefined);
      return;
    }
    if (error instanceof MissingScope) {
      challenge(error.scopes, 'insufficient_scope');
      return;
    }
    const isUnread = error instanceof MeshError && error.code === 'invalid_input';
    const code = isUnread ? codeOfUnread(error) : problem.status === 500 ? -32_603 : -32_000;
    sendRpcError(response, problem.status, code, problem.detail, null, problem);
  }

  return {
    handle,
    notify: modern.notify,
    sessionCount: () => sessions.size,
    endSessions: sessions.endAll,
    leave() {
      leaving = goElsewhere();
      access.endAll(leaving);
    },
    async close() {
      stopListening();
      access.close();
      sessions.close();
      await modern.close();
    },
  };
}

/** Returns the media types of which a client has to take one. */
function typesOf({ method }: IncomingMessage, body: unknown): readonly string[] {
  if (method === 'GET' || isListening(body)) return [EVENTS_TYPE];
  return method === 'POST' ? [JSON_TYPE, EVENTS_TYPE] : [];
}

function principalOf(context: ServerContext): Principal {
  const principal = context.http?.authInfo?.extra?.['principal'] as Principal | undefined;
  if (!principal) throw new MeshError('unauthenticated', 'Send a token in the header Authorization: Bearer <token>.');
  return principal;
}

function classify({ method = '', headers }: IncomingMessage, body: unknown) {
  const header = (name: string) => {
    const value = headers[name];
    return Array.isArray(value) ? value[0] : value;
  };
  const [version, mcpMethod, name] = [header('mcp-protocol-version'), header('mcp-method'), header('mcp-name')];
  return classifyInboundRequest({
    httpMethod: method,
    ...(version !== undefined && { protocolVersionHeader: version }),
    ...(mcpMethod !== undefined && { mcpMethodHeader: mcpMethod }),
    ...(name !== undefined && { mcpNameHeader: name }),
    ...(body !== undefined && { body }),
  });
}
