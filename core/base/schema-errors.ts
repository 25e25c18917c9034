import type { z } from 'zod';
import { type FieldError, MAX_SUGGESTIONS } from './errors.ts';
import { jsonPointer } from './json-pointer.ts';
import { nearest } from './nearest.ts';

/** Shown of one request, which is checked no further; who has mended these sees the next ones. */
export const MAX_FIELD_ERRORS = 50;
/** Fields that are told to who sent one that there is not. */
const MAX_FIELDS_LISTED = 20;
/** Characters of a pointer or a detail: a name that was sent may be as long as the request. */
const MAX_TEXT = 1_000;

/**
 * Returns the faults that a schema found, field by field. An unknown field is named itself, with the nearest known one.
 *
 * @param error of a parse with {@link PLAINLY}
 */
export function fieldErrorsOf({ issues }: z.ZodError): FieldError[] {
  const errors: FieldError[] = [];
  const mistyped = new Set<string>();
  let suggestions = 0;
  for (const issue of issues) {
    if (errors.length >= MAX_FIELD_ERRORS) break;
    const pointer = jsonPointer(issue.path);
    if (issue.code === 'invalid_type') mistyped.add(pointer);
    // zod measures a text in place of a list by its characters.
    if (mistyped.has(pointer) && (issue.code === 'too_big' || issue.code === 'too_small')) continue;
    if (issue.code !== 'unrecognized_keys') errors.push({ pointer, detail: issue.message });
    else {
      const known = issue.message.split(SEPARATOR).filter((field) => field !== '');
      for (const key of issue.keys.slice(0, MAX_FIELD_ERRORS)) {
        errors.push(unknownField([...issue.path, key], known, suggestions < MAX_SUGGESTIONS));
        suggestions += 1;
      }
    }
  }
  return errors.slice(0, MAX_FIELD_ERRORS).map(({ pointer, detail }) => ({
    pointer: pointer.slice(0, MAX_TEXT),
    detail: detail.slice(0, MAX_TEXT),
  }));
}

function unknownField(path: readonly PropertyKey[], known: readonly string[], suggests: boolean): FieldError {
  const name = path.at(-1);
  return { pointer: jsonPointer(path), detail: `There is no such field${insteadOf(String(name), known, suggests)}` };
}

function insteadOf(name: string, known: readonly string[], suggests: boolean): string {
  const instead = SENT_IN_VAIN.get(name);
  if (instead !== undefined) return `: ${instead}.`;
  const [near] = suggests ? nearest(name.toLowerCase(), known, 1) : [];
  if (near !== undefined) return `: did you mean ${near}?`;
  if (known.length === 0) return '; there are none here.';
  const more = known.length > MAX_FIELDS_LISTED ? ` and ${known.length - MAX_FIELDS_LISTED} more` : '';
  return `; there ${known.length === 1 ? 'is' : 'are'} ${known.slice(0, MAX_FIELDS_LISTED).join(SEPARATOR)}${more}.`;
}

/** Fields that callers know from elsewhere, as of a Kubernetes NetworkPolicy, and what to do instead. */
const SENT_IN_VAIN: ReadonlyMap<string, string> = new Map([
  ['podSelector', 'write peerSelector'],
  ['policyTypes', 'a direction applies when its key, ingress or egress, is there'],
  ['namespaceSelector', 'a policy is about the peers of one workspace, so select them by labels'],
]);

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** Says what is right, where a schema has no words of its own; for the second argument of `safeParse`. */
export const PLAINLY = { error: plainMessage } as const;

function plainMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      const wanted = TYPES[issue.expected] ?? issue.expected;
      return issue.input === undefined ? `Required: ${wanted}.` : `Must be ${wanted}.`;
    }
    case 'invalid_value':
      return `Must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}.`;
    case 'too_big':
      return `Must ${sized(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)}.`;
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'Must not be empty.';
      return `Must ${sized(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)}.`;
    case 'unrecognized_keys':
      return fieldsOf(issue).join(SEPARATOR);
    default:
      return undefined;
  }
}

/** Between the names of fields, in which no such sign is. */
const SEPARATOR = ', ';

function fieldsOf({ inst }: z.core.$ZodRawIssue): readonly string[] {
  return inst !== undefined && 'shape' in inst ? Object.keys(inst.shape as object) : [];
}

function sized(origin: string, relation: string, limit: number | bigint): string {
  switch (origin) {
    case 'string':
      return `have ${relation} ${limit} character${limit === 1 ? '' : 's'}`;
    case 'array':
    case 'set':
      return `have ${relation} ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
    case 'object':
    case 'map':
      return `have ${relation} ${limit} field${limit === 1 ? '' : 's'}`;
    default:
      return `be ${relation} ${limit}`;
  }
}
