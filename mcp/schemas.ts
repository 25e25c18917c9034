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

const WORKSPACE_ID = { type: 'string', description: 'Workspace to work in, by id or slug' };

/** Worked out once: schemas cost far more to make than to send. */
export function describeTool(operation: AnyOperation<Services>): Described {
  const { name, title, description, effects } = operation;
  const { $schema: _draft, ...inputSchema } = z.toJSONSchema(operation.input, { io: 'input' }) as Json;
  const outputSchema = objectSchema(z.toJSONSchema(operation.output, { io: 'output', unrepresentable: 'any' }) as Json);
  const tool = (input: Json): Tool => ({
    name,
    title,
    description,
    inputSchema: { type: 'object', ...input } as Tool['inputSchema'],
    ...(outputSchema && { outputSchema: outputSchema as NonNullable<Tool['outputSchema']> }),
    annotations: { title, ...effects },
  });
  const plain = tool(inputSchema);
  if (operation.workspace === 'none') return { plain, withWorkspace: plain };
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

/** What tells a model nothing about an answer it has in hand; an answer is checked here before it leaves. */
const OMITTED = new Set([
  '$schema',
  'additionalProperties',
  'description',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'maxItems',
  'minItems',
]);

/** Without the keywords of {@link OMITTED}; fields of the answer that bear the same names stay. */
function compacted(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(compacted);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
      if (key === 'properties' || key === '$defs') {
        const inner = Object.entries(value as Json).map(([name, field]) => [name, compacted(field)]);
        return [[key, Object.fromEntries(inner)]];
      }
      if (key === 'enum' || key === 'required' || key === 'const') return [[key, value]];
      if (key === 'additionalProperties' && typeof value === 'object') return [[key, compacted(value)]];
      return OMITTED.has(key) ? [] : [[key, compacted(value)]];
    }),
  );
}
