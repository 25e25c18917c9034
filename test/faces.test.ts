import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { SYSTEM_WORKSPACE } from '../core/ids.ts';
import type { AnyOperation } from '../core/operation.ts';
import { SCOPES } from '../core/scope.ts';
import type { Services } from '../core/services.ts';
import type { openApiDocument } from '../rest/openapi.ts';
import { operations } from '../tools/index.ts';
import { MCP_TOOLS } from '../tools/surfaces.ts';
import { startFaces } from './faces-kit.ts';
import { agent, person } from './kit.ts';

type Operation = AnyOperation<Services>;
type Input = Readonly<Record<string, unknown>>;

const cases = operations.map((operation) => [operation.name, operation] as const);
const tools = operations.filter(({ name }) => MCP_TOOLS.includes(name));
const paramsOf = ({ http }: Operation) => [...http.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);

/** An input of the right shape that names nothing that exists. */
function sampleOf(operation: Operation): Input {
  const schema = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' });
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
      schema.required?.includes(name) ? [[name, sampleValue(property as Input)]] : [],
    ),
  );
}

function sampleValue(property: Input): unknown {
  const options = (property['anyOf'] ?? property['oneOf'] ?? property['enum']) as unknown[] | undefined;
  if (property['enum']) return options?.[0];
  if (options) return sampleValue(options[0] as Input);
  switch (property['type']) {
    case 'integer':
    case 'number':
      return property['minimum'] ?? 1;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return property['const'] ?? (property['format'] === 'date-time' ? '2026-01-05T12:00:00Z' : 'absent-1');
  }
}

/** The request that carries an input over REST, as any client would make it from the OpenAPI document. */
function requestOf({ http }: Operation, input: Input, workspace: string): [string, RequestInit] {
  const rest: Record<string, unknown> = { ...input };
  const path = http.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = name === 'workspaceId' ? workspace : rest[name];
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  const headers = { 'x-workspace-id': workspace };
  const method = http.method.toUpperCase();
  if (http.method !== 'get') {
    const body = JSON.stringify(rest);
    return [path, { method, headers: { ...headers, 'content-type': 'application/json' }, body }];
  }
  const query = new URLSearchParams(
    Object.entries(rest).map(([name, value]) => [name, String(value)] as [string, string]),
  );
  return [`${path}?${query}`, { method, headers }];
}

/** The second text block of a failed call. */
function problemOf({ content }: { content?: unknown }): Record<string, unknown> {
  const [, block] = content as { text: string }[];
  return JSON.parse(block?.text ?? 'null');
}

const withoutIds = ({ instance: _instance, requestId: _requestId, ...problem }: Input) => problem;

describe.each(cases)('%s', (name, operation) => {
  test('has a verb_noun name of its own, and a file and an entry under it', () => {
    expect(name).toMatch(/^[a-z]+(_[a-z]+)+$/);
    expect(operations.filter((other) => other.name === name)).toHaveLength(1);
    expect(existsSync(`tools/${name.replaceAll('_', '-')}.ts`)).toBe(true);
  });

  test('takes an object whose fields are those of its path, and says what it does', () => {
    for (const param of paramsOf(operation)) {
      if (param !== 'workspaceId') expect(Object.keys(operation.input.shape)).toContain(param);
    }
    expect(operation.input.safeParse({ ...sampleOf(operation), surely_unknown: 1 }).success).toBe(false);
    expect(operation.title).toMatch(/^[A-Z]/);
    expect(operation.description.length).toBeGreaterThan(10);
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
    community.callers.set('root', person('platform_admin', elsewhere));
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

  test.each(cases)('%s refuses an unknown field by name', async (_name, operation) => {
    if (operation.access === 'device' || operation.access === 'enrolment' || operation.access === 'agent') return;
    const [path, init] = requestOf(operation, { ...sampleOf(operation), surely_unknown: 1 }, workspace);
    const problem = (await (await faces.send(path, 'root', init)).json()) as { status: number; errors: unknown[] };
    expect(problem.status).toBe(400);
    expect(problem.errors).toContainEqual({ pointer: '/surely_unknown', detail: 'There is no such field.' });
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
    const described = Object.values(document.paths ?? {}).flatMap((item) =>
      Object.values(item as Record<string, Input>),
    );
    const found = described.map((entry) => [entry['operationId'], entry['x-required-scope'], entry['x-edition']]);
    expect(found.sort()).toEqual(operations.map(({ name, access, edition }) => [name, access, edition]).sort());
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
    faces.callers.set('agent', { ...agent([], workspace), scopesIn: (id) => (id === workspace ? all : new Set()) });
  });
  afterAll(() => faces[Symbol.asyncDispose]());

  test('at most 20 tools are listed, in fewer than 24,000 bytes', async () => {
    const { tools: listed } = await (await faces.connect('agent')).listTools();
    expect(listed.map(({ name }) => name)).toEqual(
      MCP_TOOLS.filter((name) => tools.some((tool) => tool.name === name)),
    );
    expect(listed.length).toBeLessThanOrEqual(20);
    expect(JSON.stringify(listed).length).toBeLessThan(24_000);
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

  test('a Pro tool answers 402 in the Community edition, though it is not listed', async () => {
    await using community = await startFaces({ edition: 'community' });
    const own = await community.kit.workspace('own');
    community.callers.set('root', person('admin', own));
    const client = await community.connect('root');
    const listed = (await client.listTools()).tools.map(({ name }) => name);
    for (const { name } of tools.filter(({ edition }) => edition === 'pro')) {
      expect(listed).not.toContain(name);
      expect(problemOf(await client.callTool({ name, arguments: {} }))).toMatchObject({ status: 402 });
    }
  });
});
