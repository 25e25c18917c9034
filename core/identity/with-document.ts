import { type FieldError, MeshError } from '../base/errors.ts';

/**
 * Names the document in what the maker of its resource refuses, whose pointers are those of its own fields.
 *
 * @param at where these fields stand in the request
 */
export async function withDocument<T>(at: string, name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const errors = (error.details['errors'] ?? []) as readonly FieldError[];
    const details = errors.map((error) => ({ ...error, pointer: at + error.pointer }));
    throw new MeshError(
      error.code,
      `${name}: ${error.message}`,
      { ...error.details, ...(details.length > 0 && { errors: details }) },
      { cause: error },
    );
  }
}
