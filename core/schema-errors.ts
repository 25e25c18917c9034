import type { z } from 'zod';
import type { FieldError } from './errors.ts';
import { jsonPointer } from './json-pointer.ts';

/** Shown of one request; who has mended these sees the next ones. */
export const MAX_FIELD_ERRORS = 50;
/** Characters of a pointer or a detail: a name that was sent may be as long as the request. */
const MAX_TEXT = 1_000;

/** What a schema found wrong, field by field: one that is not in the schema is named itself. */
export function fieldErrorsOf({ issues }: z.ZodError): FieldError[] {
  const errors: FieldError[] = [];
  for (const issue of issues) {
    if (errors.length >= MAX_FIELD_ERRORS) break;
    if (issue.code !== 'unrecognized_keys') errors.push({ pointer: jsonPointer(issue.path), detail: issue.message });
    else errors.push(...issue.keys.slice(0, MAX_FIELD_ERRORS).map((key) => unknownField([...issue.path, key])));
  }
  return errors.slice(0, MAX_FIELD_ERRORS).map(({ pointer, detail }) => ({
    pointer: pointer.slice(0, MAX_TEXT),
    detail: detail.slice(0, MAX_TEXT),
  }));
}

function unknownField(path: readonly PropertyKey[]): FieldError {
  return { pointer: jsonPointer(path), detail: 'There is no such field.' };
}
