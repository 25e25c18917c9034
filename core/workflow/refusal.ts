import { MeshError } from '../base/errors.ts';
import { StoreError } from '../base/ports.ts';
import { fromStore } from '../base/store-problems.ts';

/** Tells whether an error refuses for good, rather than for the moment. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof StoreError) return error.code !== 'changed' && isRefusal(fromStore(error));
  return error instanceof MeshError && error.code !== 'unavailable' && !isTooMuchNow(error);
}

/** Tells whether the caller's quota refuses for now; by that nobody makes fail what was approved. */
export function isTooMuchNow(error: unknown): boolean {
  return error instanceof MeshError && error.code === 'rate_limited';
}

/** Returns why a workflow failed, in one line. */
export function reasonOf(error: unknown): string {
  const problem = error instanceof StoreError ? fromStore(error) : error;
  return problem instanceof MeshError ? `${problem.code}: ${problem.message}` : String(error);
}
