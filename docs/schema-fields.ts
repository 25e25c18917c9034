import type { z } from 'zod';

type Schema = z.core.JSONSchema.BaseSchema;

/** One field of a schema as a page tells it. */
export interface Field {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** Fields of fields are told so deep; what is below them is told by its type. */
const DEPTH = 2;

/** The fields of an object, those of its objects and lists below them; of all branches where there are several. */
export function fieldsOf(root: Schema, depth = DEPTH): Field[] {
  const found = new Map<string, Field>();
  const walk = (schema: Schema, prefix: string, left: number) => {
    const { properties = {}, required = [], items, anyOf = [], oneOf = [] } = resolved(root, schema);
    for (const branch of [...anyOf, ...oneOf]) walk(branch as Schema, prefix, left);
    if (items !== undefined && prefix !== '') walk(items as Schema, `${prefix}[]`, left);
    for (const [key, value] of Object.entries(properties)) {
      const field = value as Schema;
      const name = prefix === '' ? key : `${prefix}.${key}`;
      const isRequired = required.includes(key) && field.default === undefined;
      const description = field.description ?? resolved(root, field).description ?? '';
      if (!found.has(name)) found.set(name, { name, type: typeOf(root, field), isRequired, description });
      if (left > 1) walk(field, name, left - 1);
    }
  };
  walk(root, '', depth);
  return [...found.values()];
}

/** How a type ends that has a default. */
export const WHEN_LEFT_OUT = ' when left out';

/** A type in words, with what bounds it. */
function typeOf(root: Schema, schema: Schema): string {
  const known = resolved(root, schema);
  const { const: constant, enum: values, items, format } = known;
  const branches = known.anyOf ?? known.oneOf;
  if (constant !== undefined) return `\`${JSON.stringify(constant)}\``;
  if (values) return values.map((value) => `\`${value}\``).join(', ');
  if (branches) return [...new Set(branches.map((branch) => typeOf(root, branch as Schema)))].join(' or ');
  const fallback = known.default === undefined ? '' : `; \`${JSON.stringify(known.default)}\`${WHEN_LEFT_OUT}`;
  const bounds = boundsOf(known);
  if (known.type === 'array') return `list of ${typeOf(root, (items ?? {}) as Schema)}${bounds}${fallback}`;
  return `${format ?? named(known.type)}${bounds}${fallback}`;
}

function boundsOf({ type, minimum, maximum, maxLength, maxItems }: Schema): string {
  if (type === 'string') return maxLength === undefined ? '' : `, at most ${counted(maxLength)} characters`;
  if (type === 'array') return maxItems === undefined ? '' : `, at most ${counted(maxItems)}`;
  const [low, high] = [minimum, maximum].map((bound) =>
    Math.abs(bound ?? Infinity) < Number.MAX_SAFE_INTEGER ? bound : undefined,
  );
  if (low !== undefined && high !== undefined) return `, ${counted(low)} to ${counted(high)}`;
  if (low !== undefined) return `, at least ${counted(low)}`;
  return high === undefined ? '' : `, at most ${counted(high)}`;
}

const named = (type: Schema['type']) => [type ?? 'any'].flat().join(' or ');

const counted = (bound: number) => bound.toLocaleString('en');

function resolved(root: Schema, schema: Schema): Schema {
  const [, name] = /^#\/\$defs\/(.+)$/.exec(schema.$ref ?? '') ?? [];
  return name === undefined ? schema : ((root.$defs?.[name] ?? {}) as Schema);
}
