import type { z } from 'zod';
import { invalidInput } from '../core/base/errors.ts';

type Coerce = (text: string) => unknown;
type Fields = Record<string, unknown>;

/** Turns query strings and path segments into the types that the input schema names; what does not fit stays text. */
export function buildCoercion(schema: z.ZodObject) {
  const fields = new Map(
    Object.entries(schema.shape).map(([name, field]) => [name, coercionOf(field as z.core.$ZodType)]),
  );

  return {
    query(search: string): Fields {
      const raw: Fields = Object.create(null);
      if (search === '') return raw;
      for (const [name, entries] of Map.groupBy(new URLSearchParams(search), ([key]) => key)) {
        const texts = entries.map(([, text]) => text);
        const { one, list } = fields.get(name) ?? AS_TEXT;
        raw[name] = list || texts.length > 1 ? texts.map(one) : one(texts[0] ?? '');
      }
      return raw;
    },
    param(name: string, text: string): unknown {
      return (fields.get(name) ?? AS_TEXT).one(decode(text));
    },
  };
}

interface Coercion {
  readonly one: Coerce;
  readonly list: boolean;
}

const AS_TEXT: Coercion = { one: (text) => text, list: false };
const AS_NUMBER: Coercion = { one: (text) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text), list: false };
const AS_BOOLEAN: Coercion = {
  one: (text) => (text === 'true' ? true : text === 'false' ? false : text),
  list: false,
};

function coercionOf(schema: z.core.$ZodType): Coercion {
  const { def } = schema._zod;
  switch (def.type) {
    case 'number':
    case 'int':
      return AS_NUMBER;
    case 'boolean':
      return AS_BOOLEAN;
    case 'array':
      return { one: coercionOf((def as z.core.$ZodArrayDef).element).one, list: true };
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
      return coercionOf((def as z.core.$ZodOptionalDef).innerType);
    case 'pipe':
      return coercionOf((def as z.core.$ZodPipeDef).in);
    default:
      return AS_TEXT;
  }
}

function decode(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalidInput([], 'The path holds a percent sign that encodes nothing.');
  }
}
