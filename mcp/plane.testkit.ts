import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Client,
  type ClientCapabilities,
  StreamableHTTPClientTransport,
  type VersionNegotiationOptions,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Caller } from '../core/base/caller.ts';
import { MeshError } from '../core/base/errors.ts';
import { operationsFor, READ } from '../core/base/operation.ts';
import type { Commit } from '../core/base/ports.ts';
import type { Scope } from '../core/base/scope.ts';
import { silentLog } from '../core/base/silent-log.ts';
import type { Gate } from '../core/call/invoke.ts';
import type { Services } from '../core/workflow/services.ts';
import { buildMcp, type McpEndpoint, type McpHttpOptions } from './http.ts';

const define = operationsFor<Services>();
const common = { edition: 'community', effects: READ, problems: [] } as const;

/** Stands in for the operations of the product: a list, one record, one of another edition, one that fails. */
export const shapes = [
  define({
    ...common,
    name: 'list_peers',
    title: 'List peers',
    description: 'Peers of the workspace.',
    input: z.strictObject({ limit: z.int().min(1).max(200).default(50) }),
    output: z.strictObject({ items: z.array(z.strictObject({ name: z.string() })), workspace: z.string() }),
    access: 'network:read',
    workspace: 'scoped',
    http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/peers' },
    run: async (_input, { workspace }) => ({ items: [{ name: 'web-1' }, { name: 'db-1' }], workspace }),
  }),
  define({
    ...common,
    name: 'get_workflow',
    title: 'Get a workflow',
    description: 'One workflow.',
    input: z.strictObject({ id: z.string() }),
    output: z.strictObject({ id: z.string() }),
    access: 'network:read',
    workspace: 'scoped',
    http: { method: 'get', path: '/api/v1/workflows/:id' },
    run: async ({ id }) => {
      if (id !== 'wf_1') throw new MeshError('not_found', `There is no workflow ${id}. See list_workflows.`);
      return { id };
    },
  }),
  define({
    ...common,
    name: 'list_snapshots',
    title: 'List snapshots',
    description: 'Snapshots.',
    input: z.strictObject({}),
    output: z.strictObject({ items: z.array(z.string()) }),
    access: 'snapshots:read',
    workspace: 'scoped',
    edition: 'pro',
    http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/snapshots' },
    run: async () => ({ items: [] }),
  }),
  define({
    ...common,
    name: 'find_cause',
    title: 'Fail as a bug does',
    description: 'Fails.',
    input: z.strictObject({}),
    output: z.strictObject({}),
    access: 'network:read',
    workspace: 'scoped',
    http: { method: 'post', path: '/api/v1/cause' },
    run: async () => {
      throw new Error('the password is hunter2');
    },
  }),
] as const;

export function callerWith(scopes: readonly Scope[], over: Partial<Caller> = {}): Caller {
  const workspaces = over.workspaces ?? ['w_1'];
  return {
    kind: 'agent',
    subject: 'agent:helper',
    id: 'agt_helper',
    name: 'helper',
    tokenId: `tok_${scopes.join('_')}`,
    workspaces,
    scopesIn: (workspace) => new Set(workspaces === 'all' || workspaces.includes(workspace) ? scopes : []),
    interactive: false,
    ...over,
  };
}

export interface TestMcp extends AsyncDisposable {
  readonly url: URL;
  readonly endpoint: McpEndpoint;
  /** The callers by token; take one out to revoke it. */
  readonly tokens: Map<string, Caller>;
  commit(commit: Partial<Commit>): void;
  /** Connects an official client, closed with the plane. */
  connect(
    token: string,
    mode?: VersionNegotiationOptions['mode'],
    headers?: Record<string, string>,
    capabilities?: ClientCapabilities,
  ): Promise<Client>;
}

/** Options over the shapes with a gate of three tokens. `commit` tells those who listen to the store. */
export function testMcpOptions(edition: Gate<Services>['edition'] = 'pro') {
  const tokens = new Map<string, Caller>([
    ['reader', callerWith(['network:read', 'snapshots:read'])],
    ['blind', callerWith([])],
    ['both', callerWith(['network:read'], { workspaces: ['w_1', 'w_2'], tokenId: 'tok_both' })],
  ]);
  const listeners = new Set<(commit: Commit) => void>();
  const services = {
    settings: { version: '0.0.0', apiUrl: 'http://mesh.test:18090' },
    clock: { now: () => Date.now() },
    store: {
      onCommit(listener: (commit: Commit) => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  } as unknown as Services;
  const gate: Gate<Services> = {
    services,
    edition,
    async authenticate(bearer) {
      const caller = tokens.get(bearer);
      if (!caller) throw new MeshError('unauthenticated', 'This token is unknown: log in again.');
      return caller;
    },
    caughtUp: async () => undefined,
    known: (bearer) => tokens.get(bearer),
    workspaceId: async (name) => ({ w_1: 'w_1', one: 'w_1', w_2: 'w_2' })[name],
    servicesFor: () => services,
    traced: () => () => undefined,
    refused() {},
  };
  const commit = (over: Partial<Commit>) => {
    for (const listener of listeners) listener({ workspace: 'w_1', changes: [], ...over } as Commit);
  };
  return { operations: shapes, tools: shapes.map(({ name }) => name), gate, log: silentLog, tokens, commit };
}

/** The endpoint on a free port of the loopback, over the shapes. */
export async function startTestMcp(
  over: Partial<McpHttpOptions> & { readonly edition?: Gate<Services>['edition'] } = {},
): Promise<TestMcp> {
  const { tokens, commit, ...options } = testMcpOptions(over.edition);
  const endpoint = buildMcp({ ...options, ...over });
  const server = createServer((request, response) => void endpoint.handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  const clients: Client[] = [];
  return {
    url,
    endpoint,
    tokens,
    commit,
    async connect(token, mode = 'auto', headers = {}, capabilities = {}) {
      const client = new Client({ name: 'test', version: '0' }, { versionNegotiation: { mode }, capabilities });
      const requestInit = { headers: { authorization: `Bearer ${token}`, ...headers } };
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(clients.map((client) => client.close()));
      await endpoint.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
