import { NeedsPerson } from '../authority/needs-person.ts';
import { MeshError } from '../base/errors.ts';
import { StoreError } from '../base/ports.ts';
import { fromStore } from '../base/store-problems.ts';

/** Whether an error says that something cannot be done, and not that it could not be tried, judged or written just now. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof NeedsPerson) return true;
  if (error instanceof StoreError) return error.code !== 'changed' && isRefusal(fromStore(error));
  return error instanceof MeshError && error.code !== 'unavailable' && !isTooMuchNow(error);
}

/** Whether whoever asked, or an agent beside them, has too much under way: by that nobody makes fail what was approved. */
export function isTooMuchNow(error: unknown): boolean {
  return error instanceof MeshError && error.code === 'rate_limited';
}

/** Why a workflow failed, in one line. */
export function reasonOf(error: unknown): string {
  const problem = error instanceof StoreError ? fromStore(error) : error;
  return problem instanceof MeshError ? `${problem.code}: ${problem.message}` : String(error);
}
