import { type FieldError, MeshError, type ProblemCode, settledOffers } from '../../core/base/errors.ts';
import { type Store, StoreError, type StoreErrorCode } from '../../core/base/ports.ts';
import type { ComputationCall } from '../../core/compute/computation.ts';
import type { HeavyCall } from '../../core/compute/compute.ts';

/** The methods of the main thread's open store that a computing thread needs: its own connection only reads. */
export type Writes = Pick<Store, 'commit' | 'record'>;

/** An operation that is run for its caller, or a computation that another one needs. */
export type AnyCall = HeavyCall | ComputationCall;

/** `now`: the time of the call, ms, which is the time of all that it computes. */
export type ToThread =
  | { readonly kind: 'call'; readonly call: AnyCall; readonly now: number }
  | { readonly kind: 'written'; readonly id: number; readonly outcome: Outcome<unknown> };

export type FromThread =
  | { readonly kind: 'answered'; readonly outcome: Outcome<Uint8Array<ArrayBuffer>> }
  | { readonly kind: 'write'; readonly id: number; readonly write: Write };

export type Write = {
  readonly [M in keyof Writes]: { readonly method: M; readonly args: Parameters<Writes[M]> };
}[keyof Writes];

/** The outcome of work on the other thread. Errors lose their class on the way, so their contents are sent as data. */
export type Outcome<T> = { readonly value: T } | { readonly failure: Failure };

export type Failure =
  | {
      readonly type: 'problem';
      readonly code: ProblemCode;
      readonly message: string;
      readonly details: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'store'; readonly code: StoreErrorCode; readonly subject: string }
  | { readonly type: 'bug'; readonly message: string; readonly stack: string | undefined };

export async function outcomeOf<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/** @throws as the work did on the other thread */
export function unwrap<T>(outcome: Outcome<T>): T {
  if ('value' in outcome) return outcome.value;
  throw errorOf(outcome.failure);
}

function failureOf(error: unknown): Failure {
  if (error instanceof MeshError) {
    const { errors, ...details } = error.details;
    // A function cannot leave its thread.
    const settled = Array.isArray(errors) && { errors: settledOffers(errors as readonly FieldError[]) };
    return { type: 'problem', code: error.code, message: error.message, details: { ...details, ...settled } };
  }
  if (error instanceof StoreError) return { type: 'store', code: error.code, subject: error.subject };
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { type: 'bug', message, stack };
}

function errorOf(failure: Failure): Error {
  switch (failure.type) {
    case 'problem':
      return new MeshError(failure.code, failure.message, { ...failure.details });
    case 'store':
      return new StoreError(failure.code, failure.subject);
    case 'bug':
      return Object.assign(new Error(failure.message), { stack: failure.stack });
    default:
      return failure satisfies never;
  }
}
