import { type FieldError, invalidInput, MeshError } from './errors.ts';
import { MAX_FIELD_ERRORS } from './schema-errors.ts';

/**
 * Maps each item.
 *
 * @throws MeshError `invalid_input` with the faults of all items, up to as many as one refusal names; any other refusal
 * unchanged
 */
export function eachOrFaults<T, R>(items: readonly T[], make: (item: T, index: number) => R): R[] {
  const faults: MeshError[] = [];
  const made: R[] = [];
  for (const [index, item] of items.entries()) {
    try {
      made.push(make(item, index));
    } catch (error) {
      if (!isFault(error)) throw error;
      faults.push(error);
      if (faults.length >= MAX_FIELD_ERRORS) break;
    }
  }
  const [first, ...others] = faults;
  if (first === undefined) return made;
  if (others.length === 0) throw first;
  throw invalidInput(faults.flatMap(fieldsOf).slice(0, MAX_FIELD_ERRORS));
}

const fieldsOf = ({ details }: MeshError) => (details['errors'] ?? []) as readonly FieldError[];

function isFault(error: unknown): error is MeshError {
  return error instanceof MeshError && error.code === 'invalid_input' && fieldsOf(error).length > 0;
}
