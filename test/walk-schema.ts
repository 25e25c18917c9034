import { z } from 'zod';

export interface SchemaAt {
  /** Where it stands: `/spec/ingress/[]/from`. `[]` is any item, `{}` any value of a map, `{key}` any key of it. */
  readonly pointer: string;
  readonly schema: z.core.$ZodType;
}

/** A schema and everything that it is made of, each at its place. */
export function* walkSchema(schema: z.core.$ZodType, pointer = ''): Generator<SchemaAt> {
  yield { pointer, schema };
  for (const [step, inner] of partsOf(schema)) yield* walkSchema(inner, pointer + step);
}

type Part = readonly [step: string, schema: z.core.$ZodType];

/** @throws Error for a kind of schema that it does not know, so that nothing hides in one. */
function partsOf(schema: z.core.$ZodType): Part[] {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries<z.core.$ZodType>(schema.def.shape).map(([name, field]): Part => [`/${name}`, field]);
    return schema.def.catchall ? [...fields, ['/*', schema.def.catchall]] : fields;
  }
  if (schema instanceof z.ZodArray) return [['/[]', schema.def.element]];
  if (schema instanceof z.ZodUnion) return schema.def.options.map((option): Part => ['', option]);
  if (schema instanceof z.ZodPipe) return [schema.def.in, schema.def.out].map((half): Part => ['', half]);
  if (schema instanceof z.ZodRecord) {
    return [
      ['/{key}', schema.def.keyType],
      ['/{}', schema.def.valueType],
    ];
  }
  const { def } = schema._zod;
  if ('innerType' in def) return [['', def.innerType as z.core.$ZodType]];
  if (LEAVES.has(def.type)) return [];
  throw new Error(`${def.type} is a kind of schema that walkSchema does not know`);
}

const LEAVES: ReadonlySet<string> = new Set(
  'string number int boolean bigint null undefined literal enum never unknown any transform custom'.split(' '),
);
