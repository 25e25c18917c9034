import { expect, test } from 'vitest';
import { z } from 'zod';
import { fieldErrorsOf, MAX_FIELD_ERRORS } from './schema-errors.ts';

const schema = z.strictObject({ names: z.array(z.string()).optional() });

function errorsOf(input: unknown) {
  const { error } = schema.safeParse(input);
  if (!error) throw new Error('The input fits.');
  return fieldErrorsOf(error);
}

test('each wrong field is named, and one that there is not is named itself', () => {
  expect(errorsOf({ names: ['a', 1], other: 1 })).toEqual([
    { pointer: '/names/1', detail: expect.any(String) },
    { pointer: '/other', detail: 'There is no such field.' },
  ]);
});

test('a request of nothing but wrong fields gets an answer of ordinary size', () => {
  const names = Array.from({ length: 1_000 }, (_, index) => index);
  expect(errorsOf({ names })).toHaveLength(MAX_FIELD_ERRORS);
  const unknown = Object.fromEntries(names.map((index) => [`field-${index}`, 1]));
  expect(errorsOf(unknown)).toHaveLength(MAX_FIELD_ERRORS);
  expect(JSON.stringify(errorsOf({ ['x'.repeat(1_000_000)]: 1 })).length).toBeLessThan(2_000);
});
