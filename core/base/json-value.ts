import { z } from 'zod';
import { schemaNames } from './schema-names.ts';

type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [field: string]: JsonValue };

const REF = { $ref: '#/components/schemas/JsonValue' };

/** A part of an answer whose form depends on what it is about. Answers are sent as JSON, so it is not checked. */
export const jsonValue = (z.custom() as z.ZodType<JsonValue, unknown>)
  .meta({
    description: 'Any JSON',
    override: {
      anyOf: [
        { type: ['string', 'number', 'boolean', 'null'] },
        { type: 'array', items: REF },
        { type: 'object', additionalProperties: REF },
      ],
    },
  })
  .register(schemaNames, { name: 'JsonValue' });
