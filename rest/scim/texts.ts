import SCIMMY from 'scimmy';

const { Types } = SCIMMY;

export type Json = Record<string, unknown>;

/** Characters of one filter, path or name of an attribute. */
const MAX_TEXT = 1_000;
/** The library writes each way out that alternatives in brackets can be combined in: twice as many with each one more. */
const MAX_ALTERNATIVES = 5;
/** A text that is not closed is read in each way that its escapes can be taken: twice as many with each one more. */
const MAX_ESCAPES = 8;
/** Operations of one PATCH; those on members of a group are not counted, as the library does not see them. */
const MAX_OPERATIONS = 100;

/** The library looks names up with what each object inherits, and would write into that, for this whole process. */
const INHERITED: ReadonlySet<string> = new Set(
  Object.getOwnPropertyNames(Object.prototype).map((name) => name.toLowerCase()),
);
/** Names a value, which the library does not read. */
const EQUALITY = /^([\w$:.-]+)\s+eq\s+"[^"]*"$/i;

/**
 * Refuses a filter, path or name of an attribute by which the library would change what is not the request's, or not end.
 *
 * @throws SCIMMY.Types.Error `invalidFilter`, `invalidPath`
 */
export function requireHarmless(text: string, scimType: 'invalidFilter' | 'invalidPath'): void {
  if (text.length > MAX_TEXT) throw refused(scimType, `has more than ${MAX_TEXT} characters`);
  const names = (EQUALITY.exec(text)?.[1] ?? text).toLowerCase();
  const inherited = names.match(/[\w$]+/g)?.find((name) => INHERITED.has(name));
  if (inherited !== undefined) throw refused(scimType, `has the name ${inherited}, which no attribute has`);
  if (names !== text.toLowerCase()) return;
  if ((text.match(/\\/g)?.length ?? 0) > MAX_ESCAPES) throw refused(scimType, `has more than ${MAX_ESCAPES} escapes`);
  const alternatives = text.match(/\bor\b/gi)?.length ?? 0;
  if (/[([]/.test(text) && alternatives > MAX_ALTERNATIVES) {
    throw refused(scimType, `has brackets, and more than ${MAX_ALTERNATIVES} alternatives`);
  }
}

/** As {@link requireHarmless}, for every name in a body, as names may be paths. */
export function requireHarmlessNames(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const isList = Array.isArray(value);
  for (const [name, one] of Object.entries(value)) {
    if (!isList) requireHarmless(name, 'invalidPath');
    requireHarmlessNames(one);
  }
}

/** Refuses a PATCH in whose form the library fails. @throws SCIMMY.Types.Error `invalidSyntax` */
export function requirePatch({ schemas, Operations: operations }: Json): void {
  const isOperation = (one: unknown) =>
    typeof one === 'object' && one !== null && !('value' in one && one.value === null && !('path' in one));
  if (Array.isArray(schemas) && Array.isArray(operations) && operations.every(isOperation)) return;
  throw new Types.Error(
    400,
    'invalidSyntax',
    'A PATCH has lists of schemas and Operations, each an object with a value.',
  );
}

/** As {@link requireHarmless}, for the operations of a PATCH. */
export function requireHarmlessOperations({ Operations: operations }: Json): void {
  if (!Array.isArray(operations)) return;
  if (operations.length > MAX_OPERATIONS) {
    throw new Types.Error(400, 'tooMany', `Send at most ${MAX_OPERATIONS} operations in one PATCH.`);
  }
  for (const { op, path, value } of operations.map((one) => Object(one) as Json)) {
    if (typeof path === 'string') requireHarmless(path, 'invalidPath');
    if (typeof op !== 'string' || op.toLowerCase() !== 'remove' || value === undefined) continue;
    // The library writes a filter of it.
    const text = JSON.stringify(value);
    if (text.includes('\\')) throw refused('invalidFilter', 'has quotes or escapes in a value to remove');
    requireHarmless(text, 'invalidFilter');
  }
}

function refused(scimType: 'invalidFilter' | 'invalidPath', why: string) {
  return new Types.Error(400, scimType, `The ${scimType === 'invalidFilter' ? 'filter' : 'path'} ${why}.`);
}
