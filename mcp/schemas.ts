import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { AnyOperation } from '../core/operation.ts';
import type { Services } from '../core/services.ts';

type Json = Readonly<Record<string, unknown>>;

/** A tool as clients see it, with and without the argument that names a workspace. */
export interface Described {
  readonly plain: Tool;
  readonly withWorkspace: Tool;
}

const WORKSPACE_ID = { type: 'string', description: 'Its id or slug' };

/** Worked out once: schemas cost far more to make than to send. */
export function describeTool(operation: AnyOperation<Services>): Described {
  const { name, title, description, effects } = operation;
  const { $schema: _draft, ...inputSchema } = trimmed(z.toJSONSchema(operation.input, { io: 'input' })) as Json;
  const outputSchema = objectSchema(z.toJSONSchema(operation.output, { io: 'output', unrepresentable: 'any' }) as Json);
  const tool = (input: Json): Tool => ({
    name,
    title,
    description,
    inputSchema: { type: 'object', ...input } as Tool['inputSchema'],
    ...(outputSchema && { outputSchema: outputSchema as NonNullable<Tool['outputSchema']> }),
    annotations: effects,
  });
  const plain = tool(inputSchema);
  if (operation.workspace !== 'scoped') return { plain, withWorkspace: plain };
  const properties = { ...(inputSchema['properties'] as Json | undefined), workspace_id: WORKSPACE_ID };
  return { plain, withWorkspace: tool({ ...inputSchema, properties }) };
}

/** A root of type object, as clients of 2025 require; undefined where the answer can be something else. */
function objectSchema(schema: Json): Json | undefined {
  const compact = compacted(schema) as Json;
  if (compact['type'] === 'object') return compact;
  const branches = compact['anyOf'] ?? compact['oneOf'];
  const allObjects = Array.isArray(branches) && branches.every((branch: Json) => branch['type'] === 'object');
  return allObjects ? { type: 'object', ...compact } : undefined;
}

/** Below the fields of an answer, only their types are told: it is checked here before it leaves. */
const OUTPUT_DEPTH = 0;

/** The shape of an answer: names and types. What is always there is checked here before it leaves. */
function compacted(schema: unknown, depth = 0): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, properties, items, anyOf, oneOf, $ref, $defs, ...rest } = schema as Json;
  const constant = rest['const'] === undefined ? {} : { const: rest['const'] };
  const values = rest['enum'] === undefined || depth > OUTPUT_DEPTH + 1 ? {} : { enum: rest['enum'] };
  const named = { ...(type !== undefined && { type }), ...($ref !== undefined && { $ref }), ...constant, ...values };
  if (depth > OUTPUT_DEPTH) return named;
  const branches = anyOf ?? oneOf;
  return {
    ...named,
    ...(properties !== undefined && { properties: eachOf(properties as Json, depth + 1) }),
    ...(items !== undefined && { items: compacted(items, depth) }),
    ...(Array.isArray(branches) && { anyOf: branches.map((branch) => compacted(branch, depth)) }),
    ...($defs !== undefined && { $defs: eachOf($defs as Json, depth + 1) }),
  };
}

function eachOf(schemas: Json, depth: number): Json {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, compacted(schema, depth)]));
}

/** Checked on arrival, with an error that says what is wrong; in a list they would cost every caller its context. */
const CHECKED_ON_ARRIVAL = new Set(['pattern', 'minItems', 'minLength', 'propertyNames']);

const INNER = new Set(['properties', 'required', 'anyOf', 'oneOf', 'additionalProperties']);

const LAST_PORT = 65_535;

/** Fields of fields of the fields of a request are told by its words: an agent that fills them has the contract. */
const INPUT_DEPTH = 2;

/**
 * The shape of a request, without those keywords, the bounds that every safe integer and every port has, the word that
 * inner objects have no other fields, and all of what lies deeper than {@link INPUT_DEPTH} but its type.
 */
function trimmed(schema: unknown, isMap = false, depth = 0, fields = 0): unknown {
  if (Array.isArray(schema)) return schema.map((each) => trimmed(each, false, depth + 1, fields));
  if (typeof schema !== 'object' || schema === null) return schema;
  const isPort = (schema as Json)['maximum'] === LAST_PORT;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
      if (!isMap && CHECKED_ON_ARRIVAL.has(key)) return [];
      if (!isMap && depth > 0 && key === 'additionalProperties' && value === false) return [];
      const isBound = key === 'maximum' || key === 'minimum';
      if (isBound && (isPort || Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER)) return [];
      if (!isMap && fields >= INPUT_DEPTH && INNER.has(key)) return [];
      const isFields = !isMap && key === 'properties';
      return [[key, trimmed(value, isFields || (!isMap && key === '$defs'), depth + 1, fields + Number(isFields))]];
    }),
  );
}
