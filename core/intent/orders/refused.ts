import { invalidInput, type MeshError } from '../../base/errors.ts';

/** Returns the refusal of an order, which says what to do instead. */
export function refused(detail: string): MeshError {
  return invalidInput([{ pointer: '/orders', detail }], detail);
}
