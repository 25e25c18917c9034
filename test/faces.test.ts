import { existsSync, globSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { SYSTEM_WORKSPACE } from '../core/base/ids.ts';
import { fieldOf } from '../core/base/operation.ts';
import { SCOPES, type Scope } from '../core/base/scope.ts';
import { policySpecSchema } from '../core/model/policy.ts';
import type { openApiDocument } from '../rest/openapi.ts';
import { operations } from '../tools/index.ts';
import { MCP_TOOLS } from '../tools/surfaces.ts';
import { startFaces } from './kits/http/faces-kit.ts';
import { type Input, type Operation, requestOf, sampleOf } from './kits/http/sample-requests.ts';
import { agent, person } from './kits/plane/kit.ts';

/** Bytes kept for each tool of the list that is not there yet. */
const ROOM_FOR_A_TOOL = 1_200;

const cases = operations.map((operation) => [operation.name, operation] as const);
const tools = operations.filter(({ name }) => MCP_TOOLS.includes(name));
const paramsOf = (operation: Operation) =>
  [...operation.http.path.matchAll(/:(\w+)/g)].map(([, name = '']) => fieldOf(operation, name));

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
}

const POLICY_SPEC = z.toJSONSchema(policySpecSchema, { io: 'input' });

/** Returns the schema of a field; the spec of a stored policy refers to the one of a policy. */
function schemaAt(schema: unknown, [field, ...rest]: readonly string[]): Schema | undefined {
  if (field === undefined) return schema as Schema;
  if (schema && typeof schema === 'object' && 'override' in schema) return schemaAt(POLICY_SPEC, [field, ...rest]);
  const { properties = {}, additionalProperties, anyOf = [] } = (schema ?? {}) as Schema;
  const inner = properties[field] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
  if (inner) return schemaAt(inner, rest);
  return anyOf.map((each) => schemaAt(each, [field, ...rest])).find((found) => found !== undefined);
}

/** The second text block of a failed call. */
function problemOf({ content }: { content?: unknown }): Record<string, unknown> {
  const [, block] = content as { text: string }[];
  return JSON.parse(block?.text ?? 'null');
}

const withoutIds = ({ instance: _instance, requestId: _requestId, ...problem }: Input) => problem;

describe.each(cases)('%s', (name, operation) => {
  test('has a verb_noun name of its own, and an entry, a file and a test beside it under it', () => {
    expect(name).toMatch(/^[a-z]+(_[a-z]+)+$/);
    expect(operations.filter((other) => other.name === name)).toHaveLength(1);
    const [file = '', ...others] = globSync(`tools/*/${name.replaceAll('_', '-')}.ts`);
    expect([file, others]).toEqual([expect.any(String), []]);
    expect(existsSync(file.replace(/\.ts$/, '.test.ts')), `${file} has a test beside it`).toBe(true);
  });

  test('takes an object whose fields are those of its path, and says what it does', () => {
    for (const param of paramsOf(operation)) {
      if (param !== 'workspaceId') expect(Object.keys(operation.input.shape)).toContain(param);
    }
    expect(operation.input.safeParse({ ...sampleOf(operation), surely_unknown: 1 }).success).toBe(false);
    expect(operation.title).toMatch(/^[A-Z]/);
    expect(operation.description.length).toBeGreaterThan(10);
  });

  test('says which fields a table shows of its items, all of them fields that the items have', () => {
    const items = schemaAt(z.toJSONSchema(operation.output, { io: 'input', unrepresentable: 'any' }), ['items']);
    const { columns = {} } = operation;
    expect(Object.keys(columns).length > 0).toBe(items !== undefined);
    const unknown = Object.values(columns).filter((path) => !schemaAt(items?.items, path.split('.')));
    expect(unknown).toEqual([]);
  });

  test('has hints that do not contradict each other', () => {
    const { readOnlyHint, destructiveHint, idempotentHint } = operation.effects;
    if (readOnlyHint)
      expect({ destructiveHint, idempotentHint }).toEqual({ destructiveHint: false, idempotentHint: true });
    if (operation.http.method === 'get') expect(readOnlyHint).toBe(true);
  });
});

describe('over REST', () => {
  let faces: Awaited<ReturnType<typeof startFaces>>;
  let community: Awaited<ReturnType<typeof startFaces>>;
  let workspace: string;
  let elsewhere: string;
  beforeAll(async () => {
    faces = await startFaces();
    community = await startFaces({ edition: 'community' });
    workspace = await faces.kit.workspace('own');
    elsewhere = await community.kit.workspace('own');
    faces.callers
      .set('nobody', agent([], workspace))
      .set('person', { ...person('viewer', workspace), scopesIn: () => new Set() })
      .set('root', { ...person('platform_admin', workspace), scopesIn: () => new Set(SCOPES) });
    community.callers.set('root', person('platform_admin', elsewhere)).set('stranger', agent([], elsewhere));
  });
  afterAll(async () => {
    await faces[Symbol.asyncDispose]();
    await community[Symbol.asyncDispose]();
  });

  const isPublic = ({ access }: Operation) => access === 'public';

  test.each(cases.filter(([, operation]) => !isPublic(operation)))(
    '%s refuses a caller without a token',
    async (_name, operation) => {
      const [path, init] = requestOf(operation, sampleOf(operation), workspace);
      const response = await faces.send(path, undefined, init);
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="mesh"']);
    },
  );

  test.each(cases.filter(([, operation]) => !isPublic(operation) && operation.access !== 'authenticated'))(
    '%s refuses a caller without its scope',
    async (_name, operation) => {
      const [path, init] = requestOf(operation, sampleOf(operation), workspace);
      const response = await faces.send(path, operation.access === 'person' ? 'nobody' : 'person', init);
      expect(await response.json()).toMatchObject({ status: 403, code: 'forbidden' });
    },
  );

  test.each(cases.filter(([, { edition }]) => edition === 'pro'))(
    '%s answers 402 in the Community edition',
    async (_name, operation) => {
      const [path, init] = requestOf(operation, {}, elsewhere);
      const response = await community.send(path, 'root', init);
      expect(await response.json()).toMatchObject({ status: 402, code: 'edition_required' });
    },
  );

  test.each(cases.filter(([, { edition }]) => edition === 'pro'))(
    '%s does so before it looks at workspace, scope and body',
    async (_name, operation) => {
      const [path, { method }] = requestOf(operation, {}, 'no-such-workspace');
      const hostile = `${path}${path.includes('?') ? '&' : '?'}surely_unknown=%zz`;
      const hasBody = method !== 'GET';
      const init = {
        method: method ?? 'GET',
        ...(hasBody && { body: '{"not json', headers: { 'content-type': 'text/plain' } }),
      };
      const seen = async (token: string | undefined) => (await community.send(hostile, token, init)).json();
      expect(await seen('stranger')).toMatchObject({ status: 402, code: 'edition_required' });
      expect(await seen(undefined)).toMatchObject({ status: 401, code: 'unauthenticated' });
    },
  );

  test('what is Pro about the past only answers 402 where the past is asked for, before anything else', async () => {
    const PAST = ['at', 'snapshot_id'];
    const past = operations.filter(
      ({ edition, input }) => edition === 'community' && PAST.some((field) => field in input.shape),
    );
    expect(past.length).toBeGreaterThan(0);
    for (const operation of past) {
      const [path, init] = requestOf(operation, {}, 'no-such-workspace');
      const about = (field: string) => `${path}${path.includes('?') ? '&' : '?'}${field}=`;
      for (const field of PAST.filter((name) => name in operation.input.shape)) {
        const response = await community.send(about(field), 'stranger', init);
        expect([operation.name, ((await response.json()) as { code: string }).code]).toEqual([
          operation.name,
          'edition_required',
        ]);
      }
      expect((await community.send(path, 'stranger', init)).status).not.toBe(402);
    }
  });

  test.each(cases)('%s refuses an unknown field by name', async (_name, operation) => {
    if (operation.access === 'device' || operation.access === 'enrolment' || operation.access === 'agent') return;
    const [path, init] = requestOf(operation, { ...sampleOf(operation), surely_unknown: 1 }, workspace);
    const problem = (await (await faces.send(path, 'root', init)).json()) as { status: number; errors: unknown[] };
    expect(problem.status).toBe(400);
    expect(problem.errors).toContainEqual({
      pointer: '/surely_unknown',
      detail: expect.stringMatching(/^There is no such field; there (is|are) .+\.$/),
    });
  });

  test('a read leaves the store as it was', async () => {
    const { store } = faces.kit.services;
    const revisions = async () => {
      const ids = [SYSTEM_WORKSPACE, ...(await store.workspaces())];
      return Promise.all(ids.map(async (id) => [id, await store.revision(id)]));
    };
    const before = await revisions();
    for (const operation of operations.filter(({ effects }) => effects.readOnlyHint)) {
      const [path, init] = requestOf(operation, sampleOf(operation), workspace);
      const { status } = await faces.send(path, 'root', init);
      expect([operation.name, status < 500]).toEqual([operation.name, true]);
    }
    expect(await revisions()).toEqual(before);
  });

  test('the OpenAPI document holds every operation once, with its scope and edition', async () => {
    const document = (await (await faces.send('/api/v1/openapi.json', undefined)).json()) as ReturnType<
      typeof openApiDocument
    >;
    const byName = new Set(operations.map(({ name }) => name));
    const described = Object.values(document.paths ?? {})
      .flatMap((item) => Object.values(item as Record<string, Input>))
      .filter(({ operationId }) => byName.has(String(operationId)));
    const found = described.map((entry) => [entry['operationId'], entry['x-required-scope'], entry['x-edition']]);
    expect(found.sort()).toEqual(operations.map(({ name, access, edition }) => [name, access, edition]).sort());
    const alsoRead = described.flatMap((entry) => (entry['x-required-read-scope'] ? [entry['operationId']] : []));
    expect(alsoRead).toEqual(
      expect.arrayContaining(['create_policy', 'update_peer', 'apply_resources', 'revoke_agent']),
    );
    expect(alsoRead).not.toContain('create_agent');
  });
});

describe('over MCP', () => {
  let faces: Awaited<ReturnType<typeof startFaces>>;
  let workspace: string;
  beforeAll(async () => {
    faces = await startFaces();
    workspace = await faces.kit.workspace('own');
    const { scopesIn } = person('admin', workspace);
    const all = new Set([...scopesIn(workspace), 'agents:delegate' as const]);
    const mine = { ...agent([], workspace), scopesIn: (id: string) => (id === workspace ? all : new Set<Scope>()) };
    faces.callers.set('agent', mine);
    const second = await faces.kit.workspace('second');
    faces.callers.set('both', { ...mine, workspaces: [workspace, second], scopesIn: () => all });
  });
  afterAll(() => faces[Symbol.asyncDispose]());

  test('with an argument for the workspace the list leaves room for what is to come below 22,000 bytes', async () => {
    const { tools: listed } = await (await faces.connect('both')).listTools();
    expect(listed.every(({ inputSchema }) => 'workspace_id' in (inputSchema.properties ?? {}))).toBe(true);
    const missing = MCP_TOOLS.filter((name) => !listed.some((tool) => tool.name === name)).length;
    expect(Buffer.byteLength(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools: listed } }))).toBeLessThan(
      22_000 - missing * ROOM_FOR_A_TOOL,
    );
  });

  test('at most 20 tools are listed', async () => {
    const { tools: listed } = await (await faces.connect('agent')).listTools();
    expect(listed.map(({ name }) => name)).toEqual(
      MCP_TOOLS.filter((name) => tools.some((tool) => tool.name === name)),
    );
    expect(listed.length).toBeLessThanOrEqual(20);
  });

  test('every tool has a title, all four hints, an object to take and an object to answer', async () => {
    for (const tool of (await (await faces.connect('agent')).listTools()).tools) {
      expect(tool.annotations).toEqual({
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: expect.any(Boolean),
      });
      expect([tool.name, tool.inputSchema.type, tool.outputSchema?.['type']]).toEqual([tool.name, 'object', 'object']);
      expect(Object.keys(tool.inputSchema)).not.toEqual(expect.arrayContaining(['anyOf', 'oneOf', 'allOf']));
    }
  });

  test('the list is the one that was agreed on', async () => {
    const { tools: listed } = await (await faces.connect('agent')).listTools();
    const shown = listed.map(({ name, inputSchema }) => {
      const fields = Object.keys(inputSchema.properties ?? {});
      return `${name}(${fields.map((field) => (inputSchema.required?.includes(field) ? field : `${field}?`)).join(', ')})`;
    });
    expect(shown).toMatchSnapshot();
  });

  test.each(tools.map((tool) => [tool.name, tool] as const))(
    '%s answers, or refuses, as REST does',
    async (name, operation) => {
      const client = await faces.connect('agent', 'legacy');
      await client.listTools();
      for (const input of operation.effects.readOnlyHint
        ? [sampleOf(operation), { surely_unknown: 1 }]
        : [{ surely_unknown: 1 }]) {
        const [path, init] = requestOf(operation, input, workspace);
        if (path.includes('undefined')) continue;
        const response = await faces.send(path, 'agent', init);
        const answer = (await response.json()) as Input;
        const result = await client.callTool({ name, arguments: input });
        if (response.ok) expect(result.structuredContent).toEqual(answer);
        else expect(withoutIds(problemOf(result))).toEqual(withoutIds(answer));
      }
    },
  );

  test('a Pro tool is listed in the Community edition, and answers 402', async () => {
    await using community = await startFaces({ edition: 'community' });
    const own = await community.kit.workspace('own');
    community.callers.set('root', person('admin', own));
    const client = await community.connect('root');
    const listed = (await client.listTools()).tools.map(({ name }) => name);
    for (const { name } of tools.filter(({ edition }) => edition === 'pro')) {
      expect(listed).toContain(name);
      expect(problemOf(await client.callTool({ name, arguments: {} }))).toMatchObject({ status: 402 });
    }
  });
});
