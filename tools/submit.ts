import { type FieldError, MeshError, sentenceOf } from '../core/base/errors.ts';
import type { PendingApproval } from '../core/base/operation.ts';
import type { NetworkChange } from '../core/changes/changes.ts';
import { type SubmitResult, submitChanges } from '../core/workflow/submit.ts';

/** Returns the answer of a write: its result, or the workflow in which it waits. */
export function answerOf<T>(
  submitted: SubmitResult,
  done: (committed: Extract<SubmitResult, { status: 'committed' }>) => T,
): T | PendingApproval {
  return submitted.status === 'committed' ? done(submitted) : submitted;
}

/** Submits the one change that a request is about; errors point into the request itself. */
export function submitOne(
  context: Parameters<typeof submitChanges>[0],
  change: NetworkChange,
  reason: string,
  whole?: Parameters<typeof submitChanges>[3],
): Promise<SubmitResult> {
  return withPointers(() => '', submitChanges(context, [change], reason, whole));
}

/** Errors of `/changes/<index>` point to where that change stands in the request. */
export function withPointers<T>(place: (index: number) => string, work: Promise<T>): Promise<T> {
  return withErrors(work, (errors) =>
    errors.map((field) => ({
      ...field,
      pointer: field.pointer.replace(/^\/changes\/(\d+)/, (_, index: string) => place(Number(index))),
    })),
  );
}

/** Rewrites the field errors of an `invalid_input`. */
export async function withErrors<T>(
  work: Promise<T>,
  told: (errors: readonly FieldError[]) => readonly FieldError[],
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof MeshError) || error.code !== 'invalid_input') throw error;
    const errors = told((error.details['errors'] ?? []) as readonly FieldError[]);
    throw new MeshError('invalid_input', sentenceOf(errors), { ...error.details, errors }, { cause: error });
  }
}
