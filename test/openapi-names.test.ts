import { describe, expect, test } from 'vitest';
import { openApiDocument } from '../rest/openapi.ts';
import { operations } from '../tools/index.ts';

const { components, paths } = JSON.parse(JSON.stringify(openApiDocument(operations, '0.0.0'))) as {
  components: { schemas: Record<string, unknown> };
  paths: Record<string, unknown>;
};

describe('the OpenAPI document', () => {
  test('calls every object by a name that a person would give it, none longer than 45 letters', () => {
    const names = Object.keys(components.schemas);
    expect(names.filter((name) => !/^[A-Z][A-Za-z]{1,44}$/.test(name))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(['Peer', 'Policy', 'Network', 'Agent', 'Workflow', 'Problem']));
  });

  test('writes no object out in the place where it is used, so that generators need not name any', () => {
    const nested = Object.entries(paths).flatMap(([path, methods]) => inlineObjects(methods, path));
    const within = Object.entries(components.schemas).flatMap(([name, schema]) =>
      Object.entries((schema as { properties?: object }).properties ?? {}).flatMap(([key, field]) =>
        inlineObjects(field, `${name}.${key}`),
      ),
    );
    expect([...nested, ...within]).toEqual([]);
  });

  test('has the routes that are no operations too', () => {
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['/api/v1/events', '/api/v1/openapi.json', '/healthz', '/readyz', '/metrics']),
    );
  });
});

/** Where an object with fields of its own stands. A page's envelope (`data`) and a health answer name one field or two. */
function inlineObjects(value: unknown, at: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { type, properties } = value as { type?: unknown; properties?: object };
  const own = type === 'object' && properties && Object.keys(properties).length > 2 ? [at] : [];
  return [...own, ...Object.entries(value).flatMap(([key, inner]) => inlineObjects(inner, `${at}/${key}`))];
}
