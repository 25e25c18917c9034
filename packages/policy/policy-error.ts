import { z } from 'zod';
import { invalidInput, MeshError } from '../../core/base/errors.ts';
import { fieldErrorsOf } from '../../core/base/schema-errors.ts';
import type { FieldFault } from './api.ts';

/** A refusal: documents that do not fit (`invalid_input`), or that are too many to judge (`payload_too_large`). */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
  readonly code: string;
  /** The wrong fields; empty where the fault is no field's. */
  readonly errors: readonly FieldFault[];

  constructor(code: string, message: string, errors: readonly FieldFault[], options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.errors = errors;
  }
}

/** Returns what `run` does. @throws PolicyError for every refusal of the engine */
export function refusing<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    const refusal = error instanceof z.ZodError ? invalidInput(fieldErrorsOf(error)) : error;
    if (!(refusal instanceof MeshError)) throw error;
    const errors = faults.safeParse(refusal.details['errors']);
    throw new PolicyError(refusal.code, refusal.message, errors.data ?? [], { cause: error });
  }
}

const faults = z.array(
  z.object({
    pointer: z.string(),
    detail: z.string(),
    document: z.object({ kind: z.string(), name: z.string() }).optional(),
  }),
);
