import { NeedsPerson } from '../authority/needs-person.ts';
import { MeshError } from '../base/errors.ts';
import { StoreError } from '../base/ports.ts';

/** Whether an error says that something cannot be done, and not that it could not be tried, judged or written just now. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof NeedsPerson) return true;
  if (error instanceof MeshError) return error.code !== 'unavailable';
  return error instanceof StoreError && !error.isOutage && error.code !== 'changed';
}
