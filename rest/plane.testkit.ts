import { z } from 'zod';
import type { Caller } from '../core/base/caller.ts';
import { MeshError } from '../core/base/errors.ts';
import { CREATE, operationsFor, READ } from '../core/base/operation.ts';
import type { Scope } from '../core/base/scope.ts';
import { silentLog } from '../core/base/silent-log.ts';
import type { Gate } from '../core/call/invoke.ts';
import type { Services } from '../core/workflow/services.ts';
import { type AppOptions, buildApp } from './app.ts';
import { type HttpListener, listen } from './listen.ts';
import { createMetrics } from './metrics.ts';

const define = operationsFor<Services>();
const effects = READ;

/** Operations of every shape that a face has to carry. */
export const shapes = [
  define({
    name: 'echo_query',
    title: 'Echo a query',
    description: 'Answers what it was asked.',
    input: z.strictObject({
      text: z.string().optional(),
      count: z.int().optional(),
      flag: z.boolean().default(false),
      tags: z.array(z.string()).optional(),
    }),
    output: z.looseObject({}),
    access: 'network:read',
    workspace: 'scoped',
    edition: 'community',
    effects,
    problems: [],
    http: { method: 'get', path: '/api/v1/echo' },
    run: async (input, { workspace }) => ({ ...input, workspace }),
  }),
  define({
    name: 'get_thing',
    title: 'Get a thing',
    description: 'One thing.',
    input: z.strictObject({ thingId: z.string() }),
    output: z.object({ thing: z.string(), workspace: z.string() }),
    access: 'network:read',
    workspace: 'scoped',
    edition: 'community',
    effects,
    problems: ['not_found'],
    http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/things/:thingId' },
    run: async ({ thingId }, { workspace }) => ({ thing: thingId, workspace }),
  }),
  define({
    name: 'diff_things',
    title: 'Compare things',
    description: 'Literal path beside a parameter.',
    input: z.strictObject({}),
    output: z.object({ diff: z.literal(true) }),
    access: 'network:read',
    workspace: 'scoped',
    edition: 'pro',
    effects,
    problems: [],
    http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/things/diff' },
    run: async () => ({ diff: true as const }),
  }),
  define({
    name: 'create_thing',
    title: 'Create a thing',
    description: 'From JSON or YAML.',
    input: z.strictObject({ name: z.string().optional(), manifest: z.string().optional() }),
    output: z.looseObject({}),
    access: 'public',
    workspace: 'none',
    edition: 'community',
    effects: CREATE,
    problems: ['conflict'],
    http: { method: 'post', path: '/api/v1/things', status: 201, envelope: 'data', yamlField: 'manifest' },
    run: async (input) => input,
  }),
  define({
    name: 'import_things',
    title: 'Import things',
    description: 'Takes much at once.',
    input: z.strictObject({ name: z.string() }),
    output: z.looseObject({}),
    access: 'network:read',
    workspace: 'scoped',
    edition: 'community',
    effects: CREATE,
    problems: [],
    http: { method: 'post', path: '/api/v1/imports' },
    run: async () => ({}),
  }),
  define({
    name: 'break_thing',
    title: 'Break a thing',
    description: 'Fails as a bug does.',
    input: z.strictObject({}),
    output: z.object({}),
    access: 'public',
    workspace: 'none',
    edition: 'community',
    effects: CREATE,
    problems: [],
    http: { method: 'post', path: '/api/v1/break' },
    run: async () => {
      throw new Error('the password is hunter2');
    },
  }),
  define({
    name: 'refuse_thing',
    title: 'Refuse for now',
    description: 'Asks to wait.',
    input: z.strictObject({}),
    output: z.object({}),
    access: 'public',
    workspace: 'none',
    edition: 'community',
    effects: CREATE,
    problems: ['rate_limited'],
    http: { method: 'post', path: '/api/v1/refuse' },
    run: async () => {
      throw new MeshError('rate_limited', 'Wait a moment.', { retryAfterSeconds: 7 });
    },
  }),
] as const;

/** A caller with these scopes in `w_1`. */
export function callerWith(scopes: readonly Scope[], over: Partial<Caller> = {}): Caller {
  return {
    kind: 'user',
    subject: 'user:ada',
    id: 'u_ada',
    name: 'ada',
    tokenId: 'ses_ada',
    workspaces: ['w_1'],
    scopesIn: (workspace) => new Set(workspace === 'w_1' ? scopes : []),
    interactive: true,
    ...over,
  };
}

/** Knows the tokens handed in; workspace `w_1` has the slug `one`. */
export function gateOf(
  callers: Readonly<Record<string, Caller>>,
  services: Partial<Services> = {},
  edition: Gate<Services>['edition'] = 'pro',
): Gate<Services> {
  const settings = { version: '0.0.0' };
  const store = { onCommit: () => () => {} };
  const all = { settings, clock: { now: () => Date.now() }, store, ...services } as Services;
  return {
    services: all,
    edition,
    async authenticate(bearer) {
      const caller = callers[bearer];
      if (!caller) throw new MeshError('unauthenticated', 'This token is unknown: log in again.');
      return caller;
    },
    caughtUp: async () => undefined,
    known: (bearer) => callers[bearer],
    workspaceId: async (name) => (name === 'w_1' || name === 'one' ? 'w_1' : undefined),
    servicesFor: () => all,
    traced: () => () => undefined,
    refused() {},
  };
}

export interface TestPlane extends AsyncDisposable {
  readonly server: HttpListener;
  /** Sends a request with the token `reader` unless another header says so. */
  send(path: string, init?: RequestInit): Promise<Response>;
}

/** The HTTP face over the shapes on a free port of the loopback. */
export async function startTestPlane(over: Partial<AppOptions> = {}): Promise<TestPlane> {
  const app = buildApp({
    operations: shapes,
    gate: gateOf({ reader: callerWith(['network:read']), blind: callerWith([]) }),
    log: silentLog,
    metrics: createMetrics(),
    ready: async () => [],
    limits: { rate: 'off' },
    ...over,
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0 });
  return {
    server,
    send: (path, init = {}) =>
      fetch(`${server.url}${path}`, { ...init, headers: { authorization: 'Bearer reader', ...init.headers } }),
    [Symbol.asyncDispose]: () => server.stop(0),
  };
}
