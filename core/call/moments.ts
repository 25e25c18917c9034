import { z } from 'zod';
import { isObject } from '../base/is-object.ts';
import { dayEdgeOf, isMomentInWords, momentOfWords, momentSchemas } from '../base/moment-text.ts';
import { formatInstant } from '../base/time.ts';

/**
 * The input of a call with instants in place of moments in words, for every face and operation alike. What is no moment
 * stays for the schema to refuse.
 *
 * @param clocksOf asked only where there are such words: `now` in ms, and the time zone of the workspace
 */
export async function withInstants(
  { shape }: Pick<z.ZodObject, 'shape'>,
  raw: Readonly<Record<string, unknown>>,
  clocksOf: () => Promise<{ readonly now: number; readonly timeZone: string }>,
): Promise<Readonly<Record<string, unknown>>> {
  const changed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(raw)) {
    const schema = Object.hasOwn(shape, name) ? innerOf(shape[name]) : undefined;
    if (schema instanceof z.ZodObject && isObject(value)) {
      const within = await withInstants(schema, value, clocksOf);
      if (within !== value) changed[name] = within;
    } else if (schema && typeof value === 'string' && isMomentInWords(value) && isMoment(schema)) {
      const instant = momentOfWords(value, { ...(await clocksOf()), edge: dayEdgeOf(name) });
      if (instant !== undefined) changed[name] = formatInstant(instant);
    }
  }
  return Object.keys(changed).length === 0 ? raw : { ...raw, ...changed };
}

function isMoment(schema: unknown): boolean {
  return schema instanceof z.ZodType && momentSchemas.get(schema) !== undefined;
}

function innerOf(schema: unknown): unknown {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable
    ? innerOf(schema.unwrap())
    : schema;
}
