import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Caller } from '../../../core/base/caller.ts';
import type { Edition } from '../../../core/base/edition.ts';
import { MeshError } from '../../../core/base/errors.ts';
import { silentLog } from '../../../core/base/silent-log.ts';
import type { Gate } from '../../../core/call/invoke.ts';
import type { Compute } from '../../../core/compute/compute.ts';
import type { Services } from '../../../core/workflow/services.ts';
import { buildMcp } from '../../../mcp/http.ts';
import type { SessionLimits } from '../../../mcp/sessions.ts';
import { type AppOptions, buildApp } from '../../../rest/app.ts';
import { listen } from '../../../rest/listen.ts';
import { createMetrics } from '../../../rest/metrics.ts';
import { operations } from '../../../tools/index.ts';
import { MCP_TOOLS } from '../../../tools/surfaces.ts';
import { expectDeclaredStatuses } from '../plane/declared-answers.ts';
import { buildKit, ensureAgent, type Kit } from '../plane/kit.ts';

export interface FacesOptions {
  readonly edition?: Edition;
  readonly limits?: AppOptions['limits'];
  readonly sessions?: SessionLimits;
  /** Where heavy operations run; in place without. */
  readonly compute?: Compute<Services>;
}

/** Both faces over the real operations and services, on a free port; tokens stand for callers that a test makes up. */
export async function startFaces({ edition = 'pro', ...options }: FacesOptions = {}) {
  return serveFaces(await buildKit({ edition }), options);
}

/** The faces of a kit, which ends with them. */
export async function serveFaces<K extends Pick<Kit, 'services' | 'gate'> & AsyncDisposable>(
  kit: K,
  { limits = {}, sessions = {}, compute }: Omit<FacesOptions, 'edition'> = {},
) {
  const callers = new Map<string, Caller>();
  const gate: Gate<Services> = {
    ...kit.gate,
    ...(compute && { compute }),
    known: (bearer) => callers.get(bearer) ?? kit.gate.known(bearer),
    async authenticate(bearer, origin) {
      const caller = callers.get(bearer);
      if (caller?.kind === 'agent') await ensureAgent(kit.services, caller);
      if (caller) return caller;
      if (bearer.startsWith('fake-')) throw new MeshError('unauthenticated', 'This token is unknown: log in again.');
      return kit.gate.authenticate(bearer, origin);
    },
  };
  const mcp = buildMcp({ operations, tools: MCP_TOOLS, gate, log: silentLog, sessions });
  const metrics = createMetrics();
  const app = buildApp({
    operations,
    gate,
    log: silentLog,
    metrics,
    ready: async () => [],
    limits,
    mcp: mcp.handle,
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0 });
  const clients: Client[] = [];
  return {
    kit,
    url: server.url,
    callers,
    send: (path: string, token: string | undefined, init: RequestInit = {}) =>
      fetch(`${server.url}${path}`, {
        ...init,
        headers: { ...(token && { authorization: `Bearer ${token}` }), ...init.headers },
      }),
    async connect(token: string, mode: 'legacy' | 'auto' = 'auto'): Promise<Client> {
      const client = new Client({ name: 'test', version: '0' }, { versionNegotiation: { mode } });
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.allSettled(clients.map((client) => client.close()));
      await mcp.close();
      await server.stop(0);
      await kit[Symbol.asyncDispose]();
      expectDeclaredStatuses(await metrics.render(), operations);
    },
  };
}
