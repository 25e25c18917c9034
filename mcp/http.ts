import type { IncomingMessage, ServerResponse } from 'node:http';
import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node';
import {
  type AuthInfo,
  classifyInboundRequest,
  createMcpHandler,
  isJsonContentType,
  type ServerContext,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import { MeshError, toProblem } from '../core/errors.ts';
import { refuseForeignHost } from '../core/host-check.ts';
import { newId } from '../core/ids.ts';
import { originOf } from '../core/origin.ts';
import { readMessage } from './body.ts';
import { sendRpcError, sendUnauthenticated } from './refusal.ts';
import { urisOf } from './resources.ts';
import { buildServerFactory } from './server.ts';
import { createSessions, type SessionLimits } from './sessions.ts';
import type { McpOptions, Principal } from './surface.ts';

export interface McpHttpOptions extends McpOptions {
  /** Names of this control plane, in lower case, besides those of the loopback. */
  readonly hosts?: ReadonlySet<string>;
  readonly sessions?: SessionLimits;
  /** Streams are checked again so often: one whose token was revoked is cut. */
  readonly recheckMs?: number;
}

export interface McpEndpoint {
  /** Answers /mcp, for express or node:http. `origin` is the source address where a proxy stands in front. */
  handle(request: IncomingMessage & { ip?: string | undefined }, response: ServerResponse): Promise<void>;
  /** Tells subscribers; changes of the store are told already. */
  readonly notify: ServerNotifier;
  readonly sessionCount: () => number;
  /** Ends every session of the 2025 era; their clients open new ones. */
  endSessions(): void;
  close(): Promise<void>;
}

type Authenticated = IncomingMessage & { auth?: AuthInfo };

const RECHECK_MS = 15_000;
const MAX_SUBSCRIPTIONS = 1_024;
const BEARER = /^Bearer +([\x21-\x7e]+)$/i;

/** MCP over Streamable HTTP for both eras: the current revision request by request, that of 2025 in sessions. */
export function buildMcp(options: McpHttpOptions): McpEndpoint {
  const { gate, log, hosts = new Set(), sessions: limits = {}, recheckMs = RECHECK_MS } = options;
  const factory = buildServerFactory(options);
  const sessions = createSessions(limits, () => gate.services.clock.now());
  const onerror = (error: Error) => log.debug({ reason: error.message }, 'an MCP request was refused');
  const modern = createMcpHandler(({ era }) => factory.build(era, principalOf), {
    legacy: 'reject',
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    onerror,
  });
  const serveModern = toNodeHandler(modern, { onerror });
  const stopListening = gate.services.store.onCommit((commit) => {
    const uris = urisOf(commit);
    if (uris.size === 0) return;
    sessions.notify(uris);
    for (const uri of uris) modern.notify.resourceUpdated(uri);
  });

  async function authenticate(request: Authenticated, origin: string): Promise<Principal> {
    const bearer = BEARER.exec(request.headers.authorization ?? '')?.[1];
    if (!bearer) throw new MeshError('unauthenticated', 'Send a token in the header Authorization: Bearer <token>.');
    const caller = await gate.authenticate(bearer, origin);
    const hint = request.headers['x-workspace-id'];
    const principal: Principal = { caller, workspaceHint: Array.isArray(hint) ? hint[0] : hint, origin };
    request.auth = { token: bearer, clientId: caller.subject, scopes: [], extra: { principal } };
    return principal;
  }

  /** Cuts a response that outlives its token, or goes on after the token was revoked. */
  function guardStream(request: Authenticated, response: ServerResponse, { caller, origin }: Principal): void {
    const cut = () => response.destroy();
    const bearer = request.auth?.token ?? '';
    const recheck = setInterval(() => void gate.authenticate(bearer, origin).catch(cut), recheckMs);
    const lifeMs = Math.min((caller.expiresAt ?? Number.POSITIVE_INFINITY) - gate.services.clock.now(), 2 ** 31 - 1);
    const expiry = setTimeout(cut, lifeMs);
    response.once('close', () => {
      clearInterval(recheck);
      clearTimeout(expiry);
    });
  }

  async function serveLegacy(request: Authenticated, response: ServerResponse, body: unknown, principal: Principal) {
    const { tokenId } = principal.caller;
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.find(id, tokenId) : undefined;
    if (typeof id === 'string' && !known) {
      sendRpcError(response, 404, -32_001, 'There is no such session: initialize a new one.');
      return;
    }
    const isOpening = request.method === 'POST' && (body as { method?: unknown } | null)?.method === 'initialize';
    if (!known && !isOpening) {
      sendRpcError(response, 400, -32_000, 'Send the header Mcp-Session-Id, or initialize first.');
      return;
    }
    const session =
      known ?? (await sessions.open(tokenId, (watching) => factory.build('legacy', principalOf, watching)));
    session.active++;
    response.once('close', () => {
      session.active--;
    });
    await session.transport.handleRequest(request, response, body);
  }

  async function mayListen(body: unknown, principal: Principal): Promise<boolean> {
    const { method, params } = body as {
      method?: unknown;
      params?: { notifications?: { resourceSubscriptions?: unknown } };
    };
    if (method !== 'subscriptions/listen') return true;
    const uris = params?.notifications?.resourceSubscriptions;
    if (!Array.isArray(uris)) return true;
    for (const uri of uris) {
      const own = options.extension?.resources.some((resource) => resource.uri === uri);
      if (!own && !(await factory.resources.mayWatch(String(uri), principal))) return false;
    }
    return true;
  }

  async function handle(
    request: IncomingMessage & { ip?: string | undefined },
    response: ServerResponse,
  ): Promise<void> {
    const origin = originOf(request);
    try {
      const refusal = refuseForeignHost(request, hosts);
      if (refusal) throw refusal;
      const principal = await authenticate(request, origin);
      if (request.method === 'POST' && !isJsonContentType(request.headers['content-type'] ?? null)) {
        sendRpcError(response, 415, -32_000, 'Send the message as application/json.');
        return;
      }
      const body = request.method === 'POST' ? await readMessage(request) : undefined;
      if (request.method !== 'POST' || isListening(body)) guardStream(request, response, principal);
      if (classify(request, body).kind === 'legacy') {
        await serveLegacy(request, response, body, principal);
      } else if (await mayListen(body, principal)) {
        await serveModern(request as NodeIncomingMessageLike, response, body);
      } else {
        const id = (body as { id?: string | number }).id ?? null;
        sendRpcError(response, 200, -32_602, 'You may watch resources of your own workspaces only.', id);
      }
    } catch (error) {
      refuse(error, request, response, origin);
    }
  }

  function refuse(error: unknown, request: IncomingMessage, response: ServerResponse, origin: string): void {
    const requestId = newId('r');
    const problem = toProblem(error, { instance: '/mcp', requestId });
    if (!(error instanceof MeshError)) log.error({ err: error, requestId }, 'an MCP request failed');
    if (error instanceof MeshError && error.code === 'unauthenticated') {
      const call = { raw: {}, bearer: undefined, workspaceHints: [], face: 'mcp' as const, origin, requestId };
      gate.refused('mcp', error, { ...call, signal: AbortSignal.timeout(1_000) }, null);
      sendUnauthenticated(response, problem, Boolean(request.headers.authorization));
      return;
    }
    const code = problem.status === 400 ? -32_700 : problem.status === 500 ? -32_603 : -32_000;
    sendRpcError(response, problem.status, code, problem.detail, null, problem);
  }

  return {
    handle,
    notify: modern.notify,
    sessionCount: () => sessions.size,
    endSessions: sessions.endAll,
    async close() {
      stopListening();
      sessions.close();
      await modern.close();
    },
  };
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

function isListening(body: unknown): boolean {
  return (body as { method?: unknown } | null)?.method === 'subscriptions/listen';
}
