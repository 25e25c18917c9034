import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { AnyOperation } from '../core/base/operation.ts';
import type { Services } from '../core/workflow/services.ts';

type Json = Readonly<Record<string, unknown>>;

/** A tool as clients see it, with and without the argument that names a workspace. */
export interface ToolDescriptions {
  readonly plain: Tool;
  readonly withWorkspace: Tool;
}

const WORKSPACE_ID = { type: 'string', description: 'Id or slug' };

/** Worked out once: schemas cost far more to make than to send. */
export function describeTool(operation: AnyOperation<Services>): ToolDescriptions {
  const { name, title, description, effects } = operation;
  const { $schema: _draft, ...inputSchema } = inputOf(z.toJSONSchema(operation.input, { io: 'input' }) as Json);
  const outputSchema = answerSchema(z.toJSONSchema(operation.output, { io: 'output', unrepresentable: 'any' }) as Json);
  const tool = (input: Json): Tool => ({
    name,
    title,
    description,
    inputSchema: { type: 'object', ...input } as Tool['inputSchema'],
    ...(outputSchema && { outputSchema }),
    annotations: effects,
  });
  const plain = tool(inputSchema);
  if (operation.workspace !== 'scoped') return { plain, withWorkspace: plain };
  const properties = { ...(inputSchema['properties'] as Json | undefined), workspace_id: WORKSPACE_ID };
  return { plain, withWorkspace: tool({ ...inputSchema, properties }) };
}

/**
 * Length of a line that is looked up or read again, in characters. The schemas leave out limits of at most this length: nobody
 * writes a longer line, and input is checked on arrival.
 */
const LINE = 381;
/** Fields that are taken and not listed, as deprecated ones are. */
const UNLISTED: ReadonlySet<string> = new Set(['history']);

function inputOf(schema: Json): Json {
  const { $defs: _shapes, properties, ...rest } = trimmed(schema) as Json & { properties?: Record<string, Json> };
  const fields = Object.entries(properties ?? {})
    .filter(([, { deprecated }]) => deprecated !== true)
    .map(([name, { format: _format, ...field }]) => [name, asJsonText(field)] as const);
  return { ...rest, properties: Object.fromEntries(fields) };
}

/** Strict function calling has no words for rules of policies: such a field is asked for as JSON text, and taken either way. */
function asJsonText(field: Json): Json {
  return JSON.stringify(field).includes('"$ref"') ? { type: 'string', description: field['description'] } : field;
}

/**
 * Returns the schema of an answer, with a root of type object, as clients of 2025 require; undefined where the answer can be
 * something else. The answer shows its fields, and docs/mcp.md lists them: in each list their names would cost more than a tool.
 */
function answerSchema(schema: Json): { readonly type: 'object' } | undefined {
  const { anyOf, oneOf } = schema;
  const forms = (anyOf ?? oneOf ?? [schema]) as readonly Json[];
  return forms.every(({ type }) => type === 'object') ? { type: 'object' } : undefined;
}

/** Checked on arrival, with an error that says what is wrong; in a list they would cost every caller its context. */
const CHECKED_ON_ARRIVAL = new Set(['pattern', 'minItems', 'minLength', 'propertyNames', 'maxProperties']);

const INNER = new Set(['properties', 'required', 'anyOf', 'oneOf', 'additionalProperties']);

const LAST_PORT = 65_535;

/** Limits of lists within lists that are not listed: nobody sends as many. */
const FEW = 64;

/** Fields of fields of the fields of a request are told by its words: an agent that fills them has the contract. */
const INPUT_DEPTH = 2;

/**
 * The shape of a request, without those keywords, limits of a line, the bounds that every safe integer and every port has, the
 * word that objects have no other fields, and all of what lies deeper than {@link INPUT_DEPTH} but its type.
 */
function trimmed(schema: unknown, isMap = false, depth = 0, fields = 0): unknown {
  if (Array.isArray(schema)) return schema.map((each) => trimmed(each, false, depth + 1, fields));
  if (typeof schema !== 'object' || schema === null) return schema;
  const isPort = (schema as Json)['maximum'] === LAST_PORT;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
      if (!isMap && CHECKED_ON_ARRIVAL.has(key)) return [];
      if (!isMap && key === 'additionalProperties' && value === false) return [];
      const isBound = key === 'maximum' || key === 'minimum';
      if (!isMap && key === 'maxLength' && Number(value) <= LINE) return [];
      if (isMap && UNLISTED.has(key)) return [];
      if (!isMap && fields > 1 && key === 'maxItems' && Number(value) <= FEW) return [];
      if (isBound && (isPort || Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER)) return [];
      if (!isMap && fields >= INPUT_DEPTH && INNER.has(key)) return [];
      const isFields = !isMap && key === 'properties';
      return [[key, trimmed(value, isFields || (!isMap && key === '$defs'), depth + 1, fields + Number(isFields))]];
    }),
  );
}
