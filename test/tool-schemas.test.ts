import { describe, expect, test } from 'vitest';
import type { AnyOperation } from '../core/base/operation.ts';
import type { Services } from '../core/workflow/services.ts';
import { givenArguments } from '../mcp/given-arguments.ts';
import { describeTool } from '../mcp/schemas.ts';
import { operations } from '../tools/index.ts';
import { MCP_TOOLS } from '../tools/surfaces.ts';

type Json = Readonly<Record<string, unknown>>;
type Field = Json & { readonly type?: unknown; readonly description?: string };

const tools = (operations as readonly AnyOperation<Services>[])
  .filter(({ name }) => MCP_TOOLS.includes(name))
  .map((operation) => {
    const { withWorkspace } = describeTool(operation);
    return { operation, name: operation.name, withWorkspace, schema: withWorkspace.inputSchema as unknown as Json };
  });

const INSTANT = '2026-01-01T00:00:00Z';
/** Values of required fields that not every text is. */
const VALUES: Readonly<Record<string, unknown>> = { period_start: INSTANT, ttl: '30m', subAgentName: 'helper' };

/** Keywords that every vendor takes or, as these bounds, leaves out. */
const BOUNDS = ['default', 'minimum', 'maximum', 'maxItems', 'maxLength'];
const COMMON = new Set(['type', 'description', 'properties', 'required', 'items', 'enum', ...BOUNDS]);
const TYPES = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean']);

const fieldsOf = ({ properties }: Json) => Object.entries((properties ?? {}) as Record<string, Field>);

/** Returns each place where a schema is beyond the common subset. */
function beyondCommon(schema: Json, at = ''): string[] {
  const words = Object.keys(schema).filter((word) => !COMMON.has(word) && word !== 'additionalProperties');
  const { type, items, enum: values = [], properties } = schema;
  return [
    ...words.map((word) => `${at} ${word}`),
    ...(TYPES.has(String(type)) ? [] : [`${at} of type ${type}`]),
    ...(type === 'array' && items === undefined ? [`${at} without items`] : []),
    ...(type === 'object' && properties === undefined ? [`${at} without fields`] : []),
    ...((values as unknown[]).every((value) => typeof value === 'string')
      ? []
      : [`${at} with values that are no text`]),
    ...(items === undefined ? [] : beyondCommon(items as Json, `${at}/[]`)),
    ...fieldsOf(schema).flatMap(([name, field]) => beyondCommon(field, `${at}/${name}`)),
  ];
}

/** OpenAI, strict: every field is required, an optional one may be null; no defaults; objects are closed. */
function openAi(schema: Json): Json {
  const { type, description, enum: values, items, required = [] } = schema;
  const names = fieldsOf(schema).map(([name]) => name);
  const field = (name: string, each: Field) => {
    const strict = openAi(each);
    return (required as string[]).includes(name) ? strict : { ...strict, type: [each.type, 'null'] };
  };
  return {
    ...{ type, ...(description !== undefined && { description }) },
    ...(values !== undefined && { enum: values }),
    ...(items !== undefined && { items: openAi(items as Json) }),
    ...(type === 'object' && {
      properties: Object.fromEntries(fieldsOf(schema).map(([name, each]) => [name, field(name, each)])),
      required: names,
      additionalProperties: false,
    }),
  };
}

/** Gemini: no `additionalProperties`, no defaults; models fill optional fields with what is empty. Anthropic takes as much. */
function gemini(schema: Json): Json {
  const { additionalProperties: _closed, default: _default, items, ...rest } = schema;
  return {
    ...rest,
    ...(items !== undefined && { items: gemini(items as Json) }),
    ...(rest['type'] === 'object' && {
      properties: Object.fromEntries(fieldsOf(schema).map(([name, each]) => [name, gemini(each)])),
    }),
  };
}

/** Returns the arguments of a model that fills each field: what is asked for, and else what says nothing. */
function filled(schema: Json, required: readonly string[], empty: (field: Field) => unknown): Json {
  return Object.fromEntries(
    fieldsOf(schema).flatMap(([name, field]) => {
      const value = required.includes(name) ? (VALUES[name] ?? (field['enum'] as unknown[])?.[0] ?? 'x') : empty(field);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

describe.each(tools)('$name', ({ operation, schema }) => {
  const required = (schema['required'] ?? []) as string[];
  const parsed = (args: Json) => {
    const { workspace_id: _workspace, ...given } = givenArguments(operation)(args);
    return operation.input.safeParse(given);
  };
  const needed = parsed(filled(schema, required, () => undefined));

  test('is in the common subset of OpenAI strict, Anthropic and Gemini', () => {
    expect(beyondCommon(schema)).toEqual([]);
    expect(fieldsOf(schema).filter(([name]) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))).toEqual([]);
  });

  test('takes the form that strict function calling of OpenAI fills', () => {
    const strict = openAi(schema);
    expect(strict['required']).toEqual(fieldsOf(schema).map(([name]) => name));
    expect(parsed(filled(strict, required, () => null))).toEqual(needed);
    expect(needed.error).toBeUndefined();
  });

  test('takes the form that Gemini fills', () => {
    const empty = ({ type }: Field) => (type === 'array' ? [] : type === 'boolean' ? undefined : '');
    expect(parsed(filled(gemini(schema), required, empty)).error).toBeUndefined();
  });
});

test.each(tools)('each field of $name has a description', ({ schema }) => {
  expect(fieldsOf(schema).flatMap(([name, { description }]) => (description ? [] : [name]))).toEqual([]);
});

test('descriptions of tools and fields name no operation that is no tool', () => {
  const others = operations.map(({ name }) => name).filter((name) => !MCP_TOOLS.includes(name));
  const text = JSON.stringify(tools.map(({ withWorkspace }) => withWorkspace));
  expect(others.filter((name) => new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
});
