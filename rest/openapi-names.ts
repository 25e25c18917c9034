import { z } from 'zod';
import type { AnyOperation } from '../core/base/operation.ts';
import { schemaNames } from '../core/base/schema-names.ts';

/** The parts of a schema that may hold objects, as zod 4 keeps them. */
interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly options?: readonly z.core.$ZodType[];
  readonly element?: z.core.$ZodType;
  readonly innerType?: z.core.$ZodType;
  readonly valueType?: z.core.$ZodType;
  readonly in?: z.core.$ZodType;
  readonly out?: z.core.$ZodType;
}

/**
 * Names every object of requests and answers, so that generated clients have types with short names: what is listed is called
 * by its singular (`list_peers` lists `Peer`), an answer `GetMeResponse`, a request `CreatePolicyRequest`, and what is inside of
 * them by owner and field (`PeerStatus`).
 *
 * @param requestOf the schema of an operation's body, if it has one
 * @throws TypeError when two schemas come to the same name: then one is to be registered in `schemaNames`.
 */
export function nameSchemas<Services>(
  operations: readonly AnyOperation<Services>[],
  requestOf: (operation: AnyOperation<Services>) => z.ZodType | undefined,
): ReadonlyMap<z.core.$ZodType, string> {
  const names = new Map<z.core.$ZodType, string>();
  const taken = new Set<string>();
  const give = (schema: z.core.$ZodType, wanted: string): string => {
    const known = names.get(schema);
    if (known !== undefined) return known;
    const name = schemaNames.get(schema as z.ZodType)?.name ?? wanted;
    if (taken.has(name)) throw new TypeError(`Two schemas would be called ${name}: register a name for one.`);
    names.set(schema, name);
    taken.add(name);
    return name;
  };
  const visit = (schema: z.core.$ZodType | undefined, wanted: string): void => {
    if (!schema) return;
    const { type, shape, options, element, innerType, valueType, in: from, out } = schema._zod.def as Definition;
    if (type === 'object' && shape) {
      if (names.has(schema) || Object.keys(shape).length === 0) return;
      const name = give(schema, wanted);
      for (const [key, field] of Object.entries(shape))
        visit(field, name + pascal(isList(field) ? singular(key) : key));
      return;
    }
    if (type === 'custom' && schemaNames.has(schema as z.ZodType)) give(schema, wanted);
    for (const part of [...(options ?? []), element, innerType, valueType, from, out]) visit(part, wanted);
  };
  for (const operation of operations) visit(listed(operation), pascal(singular(operation.name.replace(/^list_/, ''))));
  for (const operation of operations) {
    visit(requestOf(operation), `${pascal(operation.name)}Request`);
    visit(operation.output, `${pascal(operation.name)}Response`);
  }
  return names;
}

/** Makes a document with names that schemas have for it alone: elsewhere (MCP) they would only cost their readers. */
export function withNames<T>(names: ReadonlyMap<z.core.$ZodType, string>, make: () => T): T {
  const before = new Map([...names.keys()].map((schema) => [schema, z.globalRegistry.get(schema)]));
  try {
    for (const [schema, id] of names) z.globalRegistry.add(schema, { ...before.get(schema), id });
    return make();
  } finally {
    for (const [schema, meta] of before) {
      z.globalRegistry.remove(schema);
      if (meta) z.globalRegistry.add(schema, meta);
    }
  }
}

/** Returns the schema of the items of a list operation. */
function listed<Services>({ name, output }: AnyOperation<Services>): z.core.$ZodType | undefined {
  if (!name.startsWith('list_')) return undefined;
  const { shape } = (output as z.ZodType)._zod.def as Definition;
  return (shape?.['items']?._zod.def as Definition | undefined)?.element;
}

function isList(schema: z.core.$ZodType): boolean {
  const { type, innerType } = schema._zod.def as Definition;
  return type === 'array' || (innerType !== undefined && isList(innerType));
}

export function pascal(text: string): string {
  return text.replaceAll(/(?:^|[_-])(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function singular(word: string): string {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.endsWith('s') && !word.endsWith('ss') && !word.endsWith('us') ? word.slice(0, -1) : word;
}
