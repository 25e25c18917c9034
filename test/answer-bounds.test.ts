import { expect, test } from 'vitest';
import { z } from 'zod';
import { answers } from '../docs/limits.ts';
import { operations } from '../tools/index.ts';
import { walkSchema } from './walk-schema.ts';

test('every list and map of every answer is a page or has a bound that docs/limits.md tells', () => {
  const found = operations.flatMap((operation) =>
    unboundedOf(operation).map((pointer) => ({ name: operation.name, pointer })),
  );
  const untold = found.filter(({ name, pointer }) => toldBy(name, pointer) === undefined);
  expect(untold).toEqual([]);
  const used = new Set(found.map(({ name, pointer }) => toldBy(name, pointer)));
  expect(Object.keys(answers).filter((key) => !used.has(key))).toEqual([]);
});

test('every operation that lists records does so in pages', () => {
  const lists = operations.filter(({ name }) => name.startsWith('list_'));
  expect(lists.filter((operation) => !isPaged(operation)).map(({ name }) => name)).toEqual([]);
  expect(lists.length).toBeGreaterThan(8);
});

test('a list in an answer that is no page is found', () => {
  const output = z.strictObject({ items: z.array(z.string()), next_cursor: z.string().optional() });
  expect(unboundedOf({ input: z.strictObject({}), output })).toEqual(['/items']);
  expect(unboundedOf({ input: z.strictObject({ limit: z.int(), cursor: z.string() }), output })).toEqual([]);
});

test('every object of every answer names its fields, and every value has a type', () => {
  expect(operations.flatMap(({ name, output }) => untypedIn(output).map((pointer) => name + pointer))).toEqual([]);
});

test('an object of any fields and a value without a type are found', () => {
  const output = z.strictObject({ some: z.looseObject({}), any: z.array(z.unknown()), own: z.custom<string>() });
  expect(untypedIn(output)).toEqual(['/some/*', '/any/[]', '/own']);
});

/** A schema of its own making has a type where it says how documents describe it. */
function untypedIn(output: z.ZodType): string[] {
  return [...walkSchema(output)].flatMap(({ pointer, schema }) => {
    const { type } = schema._zod.def;
    const isOwn = type === 'custom' && z.globalRegistry.get(schema)?.['override'] !== undefined;
    return ['unknown', 'any', 'custom'].includes(type) && !isOwn ? [pointer] : [];
  });
}

interface Shape {
  readonly input: z.ZodObject;
  readonly output: z.ZodType;
}

function isPaged({ input, output }: Shape): boolean {
  const fields = output instanceof z.ZodObject ? output.shape : {};
  return 'limit' in input.shape && 'cursor' in input.shape && 'items' in fields && 'next_cursor' in fields;
}

function unboundedOf(operation: Shape): string[] {
  const found = [...walkSchema(operation.output)].flatMap(({ pointer, schema }) => {
    const { type } = schema._zod.def;
    if (type === 'record') return [pointer];
    if (type !== 'array') return [];
    return z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }).maxItems === undefined ? [pointer] : [];
  });
  return found.filter((pointer) => pointer !== '/items' || !isPaged(operation));
}

/** The key of the bound: the operation, or a field on the way to the list. */
function toldBy(name: string, pointer: string): string | undefined {
  return [name, ...pointer.split('/').toReversed()].find((key) => Object.hasOwn(answers, key));
}
