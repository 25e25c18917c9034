import type { ProblemCode } from '../core/base/errors.ts';

/** Exit codes of `mesh` (docs/node.md#commands). */
export const EXIT = {
  ok: 0,
  negative: 1,
  input: 2,
  auth: 3,
  notFound: 4,
  conflict: 5,
  edition: 6,
  unavailable: 7,
  needsRoot: 8,
  /** As a shell sees a program that SIGINT ended. */
  interrupted: 130,
} as const;

const BY_CODE: Readonly<Record<ProblemCode, number>> = {
  invalid_input: EXIT.input,
  method_not_allowed: EXIT.input,
  payload_too_large: EXIT.input,
  unsupported_media_type: EXIT.input,
  intent_not_understood: EXIT.input,
  policy_assertion_failed: EXIT.negative,
  unauthenticated: EXIT.auth,
  otp_required: EXIT.auth,
  forbidden: EXIT.auth,
  beyond_delegation: EXIT.auth,
  host_not_allowed: EXIT.auth,
  peer_pending: EXIT.auth,
  password_change_required: EXIT.auth,
  second_factor_required: EXIT.auth,
  not_found: EXIT.notFound,
  conflict: EXIT.conflict,
  unsupported_version: EXIT.conflict,
  dry_run: EXIT.conflict,
  precondition_failed: EXIT.conflict,
  plan_stale: EXIT.conflict,
  expired: EXIT.conflict,
  plan_expired: EXIT.conflict,
  edition_required: EXIT.edition,
  rate_limited: EXIT.unavailable,
  internal: EXIT.unavailable,
  unavailable: EXIT.unavailable,
  storage_full: EXIT.unavailable,
};

/** A failure of the command line itself or of the server: one line for the user and the exit code of its class. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;
  /** The problem that a server answered. */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(message: string, exitCode: number, problem: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.exitCode = exitCode;
    this.problem = problem;
  }

  /** The code of the problem that a server answered. */
  get code(): unknown {
    return this.problem['code'];
  }
}

/** The class of a problem that a server answered; of one that only a newer server knows, that there is no answer. */
export function exitCodeOf(code: unknown): number {
  return BY_CODE[code as ProblemCode] ?? EXIT.unavailable;
}
