import type { z } from 'zod';
import type { FieldError } from './errors.ts';
import { jsonPointer } from './json-pointer.ts';

/** What a schema found wrong, field by field: one that is not in the schema is named itself. */
export function fieldErrorsOf({ issues }: z.ZodError): FieldError[] {
  return issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ pointer: jsonPointer([...issue.path, key]), detail: 'There is no such field.' }))
      : [{ pointer: jsonPointer(issue.path), detail: issue.message }],
  );
}
