import { expect, test } from 'vitest';
import { z } from 'zod';
import { fieldErrorsOf, MAX_FIELD_ERRORS, PLAINLY } from './schema-errors.ts';

const schema = z.strictObject({ names: z.array(z.string()).optional() });

function errorsOf(input: unknown, of: z.ZodType = schema) {
  const { error } = of.safeParse(input, PLAINLY);
  if (!error) throw new Error('The input fits.');
  return fieldErrorsOf(error);
}

test('each wrong field is named, and one that there is not is named itself', () => {
  expect(errorsOf({ names: ['a', 1], other: 1 })).toEqual([
    { pointer: '/names/1', detail: expect.any(String) },
    { pointer: '/other', detail: 'There is no such field; there is names.' },
  ]);
});

test('a text in place of a list is no list, and is not measured as a text', () => {
  const schema = z.strictObject({ from: z.array(z.string()).max(2) });
  expect(errorsOf({ from: 'person' }, schema)).toEqual([{ pointer: '/from', detail: 'Must be a list.' }]);
});

test('of a field that there is not the nearest is said, else the fields that there are at that place', () => {
  const inner = z.strictObject({ usageLimit: z.number().optional(), ttl: z.string().optional() });
  const outer = z.strictObject({ token: inner.optional(), none: z.strictObject({}).optional() });
  expect(errorsOf({ token: { usage_limit: 5, tll: '1h', color: 1 }, none: { a: 1 }, podSelector: {} }, outer)).toEqual([
    { pointer: '/token/usage_limit', detail: 'There is no such field: did you mean usageLimit?' },
    { pointer: '/token/tll', detail: 'There is no such field: did you mean ttl?' },
    { pointer: '/token/color', detail: 'There is no such field; there are usageLimit, ttl.' },
    { pointer: '/none/a', detail: 'There is no such field; there are none here.' },
    { pointer: '/podSelector', detail: 'There is no such field: write peerSelector.' },
  ]);
  const many = z.strictObject(
    Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`field${n}`, z.int().optional()])),
  );
  expect(errorsOf({ color: 1 }, many)[0]?.detail).toMatch(/there are field0, .*, field19 and 10 more\.$/);
});

test('a request of nothing but wrong fields gets an answer of ordinary size', () => {
  const names = Array.from({ length: 1_000 }, (_, index) => index);
  expect(errorsOf({ names })).toHaveLength(MAX_FIELD_ERRORS);
  const unknown = Object.fromEntries(names.map((index) => [`field-${index}`, 1]));
  expect(errorsOf(unknown)).toHaveLength(MAX_FIELD_ERRORS);
  expect(JSON.stringify(errorsOf({ ['x'.repeat(1_000_000)]: 1 })).length).toBeLessThan(2_000);
});
