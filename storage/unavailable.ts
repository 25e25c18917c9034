import { StoreError } from '../core/base/ports.ts';

export function unavailable(what: string, cause?: unknown): StoreError {
  return new StoreError('unavailable', what, { cause });
}
