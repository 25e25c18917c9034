import { expect, test } from 'vitest';
import { z } from 'zod';
import { zodToJsonSchema } from 'zod-to-json-schema';

test('zod-to-json-schema answers an empty schema for zod 4, where zod itself answers the constraint', () => {
  const shape = z.strictObject({ intent: z.string() });
  expect(Object.keys(zodToJsonSchema(shape as never))).toEqual(['$schema']);
  expect(z.toJSONSchema(shape)).toMatchObject({ type: 'object', required: ['intent'], additionalProperties: false });
});
