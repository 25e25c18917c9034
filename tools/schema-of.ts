import { z } from 'zod';
import { schemaNames } from '../core/base/schema-names.ts';
import type { Form, Shape } from '../core/base/shape.ts';

/** The schema by which the API describes and checks an answer that has this shape. Fields that it does not know are refused. */
export function schemaOf<T>(shape: Shape<T>): z.ZodType<T, T> {
  // A form tells the kinds of the values that its shape answers.
  return schemaOfForm(shape.form) as z.ZodType<T, T>;
}

function schemaOfForm(form: Form): z.ZodType {
  const schema = plainSchemaOf(form);
  if (form.name !== undefined) schema.register(schemaNames, { name: form.name });
  return form.description === undefined ? schema : schema.describe(form.description);
}

function plainSchemaOf(form: Form): z.ZodType {
  switch (form.kind) {
    case 'any':
      return z.unknown();
    case 'text':
      return z.string();
    case 'integer':
      return z.int();
    case 'one-of': {
      const [only, ...others] = form.texts;
      return only !== undefined && others.length === 0 ? z.literal(only) : z.enum(form.texts);
    }
    case 'nullable':
      return schemaOfForm(form.of).nullable();
    case 'list':
      return z.array(schemaOfForm(form.of));
    case 'object': {
      const required = Object.entries(form.required).map(([name, field]) => [name, schemaOfForm(field)] as const);
      const optional = Object.entries(form.optional).map(([name, field]) => [name, optionalOf(field)] as const);
      return z.strictObject(Object.fromEntries([...required, ...optional]));
    }
    default:
      return form satisfies never;
  }
}

/** The description stands on the field as a whole. */
function optionalOf({ description, ...form }: Form): z.ZodType {
  const schema = schemaOfForm(form).optional();
  return description === undefined ? schema : schema.describe(description);
}
