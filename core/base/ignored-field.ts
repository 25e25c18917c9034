import { z } from 'zod';

/** A field that is accepted, so that what was read can be sent back, and that nothing looks at. */
export const ignoredField = z.unknown().optional().describe('Ignored');

/** The fields of a request that an operation looks at. Nothing else, such as the trace of an agent, gets the others. */
export function withoutIgnored(
  { shape }: Pick<z.ZodObject, 'shape'>,
  raw: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const isIgnored = (name: string) => Object.hasOwn(shape, name) && shape[name] === ignoredField;
  const names = Object.keys(raw);
  if (!names.some(isIgnored)) return raw;
  return Object.fromEntries(names.flatMap((name) => (isIgnored(name) ? [] : [[name, raw[name]]])));
}
