import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { anything, described, integer, list, nullable, object, oneOf, type Shape, text } from '../core/base/shape.ts';
import { schemaOf } from './schema-of.ts';

const port = object({ number: integer(1, 65_535), kind: oneOf('tcp', 'udp') });
const service = object(
  { name: described(text(8), 'What it is called'), ports: list(port, 2), until: nullable(text(40)), v: oneOf('1') },
  { note: described(text(8), 'What people say of it'), extra: anything },
);

describe('the schema of a shape', () => {
  test('takes what the shape answers, and says the same of it as one written by hand', () => {
    const byHand = z.strictObject({
      name: z.string().describe('What it is called'),
      ports: z.array(z.strictObject({ number: z.int(), kind: z.enum(['tcp', 'udp']) })),
      until: z.string().nullable(),
      v: z.literal('1'),
      note: z.string().optional().describe('What people say of it'),
      extra: z.unknown().optional(),
    });
    expect(z.toJSONSchema(schemaOf(service))).toEqual(z.toJSONSchema(byHand));
    const answer = service({ name: 'web', ports: [{ number: 80, kind: 'tcp' }], until: null, v: '1', later: true });
    expect(schemaOf(service).parse(answer)).toEqual(answer);
  });

  test.each<[string, Shape<unknown>, unknown]>([
    ['another kind of value', text(8), 1],
    ['a fraction', integer(), 1.5],
    ['another text', oneOf('a', 'b'), 'c'],
    ['a field that the shape does not know', port, { number: 1, kind: 'tcp', later: true }],
    ['a missing field', port, { number: 1 }],
    ['null where there is no null', list(port, 2), null],
  ])('refuses %s', (_, shape, value) => {
    expect(schemaOf(shape).safeParse(value).success).toBe(false);
  });
});
