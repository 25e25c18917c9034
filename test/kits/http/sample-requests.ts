import { z } from 'zod';
import { type AnyOperation, fieldOf } from '../../../core/base/operation.ts';
import type { Services } from '../../../core/workflow/services.ts';

export type Operation = AnyOperation<Services>;
export type Input = Readonly<Record<string, unknown>>;

/** A text of samples: a name that nothing has. */
export const ABSENT = 'absent-1';

/** An input of the right shape that names nothing that exists. */
export function sampleOf(operation: Operation): Input {
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
      return property['const'] ?? (property['format'] === 'date-time' ? '2026-01-05T12:00:00Z' : ABSENT);
  }
}

/** The request that carries an input over REST, as any client would make it from the OpenAPI document. */
export function requestOf(operation: Operation, input: Input, workspace: string): [string, RequestInit] {
  const { http } = operation;
  const rest: Record<string, unknown> = { ...input };
  const path = http.path.replaceAll(/:(\w+)/g, (_, param: string) => {
    const name = fieldOf(operation, param);
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
