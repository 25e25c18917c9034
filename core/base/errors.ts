/** Every failure the service can report, in one table: code -> HTTP status and title (docs/errors.md). */
export const problems = {
  invalid_input: { status: 400, title: 'Invalid input' },
  unsupported_version: { status: 400, title: 'Version not supported' },
  unauthenticated: { status: 401, title: 'Authentication required' },
  otp_required: { status: 401, title: 'One-time code required' },
  edition_required: { status: 402, title: 'Pro edition required' },
  forbidden: { status: 403, title: 'Not permitted' },
  beyond_delegation: { status: 403, title: 'Beyond the delegation' },
  host_not_allowed: { status: 403, title: 'Host not allowed' },
  peer_pending: { status: 403, title: 'Peer awaits approval' },
  password_change_required: { status: 403, title: 'Password change required' },
  second_factor_required: { status: 403, title: 'Second factor required' },
  not_found: { status: 404, title: 'Record not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  conflict: { status: 409, title: 'Conflict' },
  dry_run: { status: 409, title: 'Plan was a dry run' },
  plan_stale: { status: 409, title: 'Plan is stale' },
  expired: { status: 410, title: 'Expired' },
  plan_expired: { status: 410, title: 'Plan has expired' },
  precondition_failed: { status: 412, title: 'Precondition failed' },
  payload_too_large: { status: 413, title: 'Payload too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  policy_assertion_failed: { status: 422, title: 'Policy assertion failed' },
  intent_not_understood: { status: 422, title: 'Intent not understood' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Unavailable' },
  storage_full: { status: 507, title: 'Storage full' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

/** A wrong field: a JSON pointer into the input, and what to do about it. */
export interface FieldError {
  readonly pointer: string;
  readonly detail: string;
  /**
   * The detail with names of records in it. Only who may list them gets it, as the `detail` (`withNames`). A function looks
   * the names up, which is done for the first few errors of a request alone ({@link settledOffers}).
   */
  readonly offered?: string | (() => string | undefined);
  /** The document that contains the field, where the input has several. */
  readonly document?: { readonly kind: string; readonly name: string };
}

/** An expected failure. Everything else that is thrown is a bug and becomes `internal`. */
export class MeshError extends Error {
  override readonly name = 'MeshError';
  readonly code: ProblemCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ProblemCode, message: string, details: Record<string, unknown> = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

/** Errors of one request for which names that may have been meant are looked up: each costs a look at all names. */
export const MAX_SUGGESTIONS = 5;

/** The errors with the offers of the first few of them, and of no other. */
export function settledOffers(errors: readonly FieldError[]): FieldError[] {
  let settled = 0;
  return errors.map(({ offered, ...error }) => {
    if (offered === undefined || settled >= MAX_SUGGESTIONS) return error;
    settled += 1;
    const text = typeof offered === 'string' ? offered : offered();
    return text === undefined ? error : { ...error, offered: text };
  });
}

/** An `invalid_input` that names each wrong field. */
export function invalidInput(errors: readonly FieldError[], message = sentenceOf(errors)): MeshError {
  return new MeshError('invalid_input', message, { errors });
}

/** The first of them as one line, each with its document. */
export function sentenceOf(errors: readonly FieldError[]): string {
  return errors
    .slice(0, 3)
    .map(({ pointer, detail, document }) => {
      const place = document ? `${document.kind} ${document.name}, ${pointer}` : pointer;
      return `${place}: ${detail}`;
    })
    .join(' ');
}

/** RFC 9457 problem details; `code` is stable and machine-readable. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance?: string;
  readonly code: ProblemCode;
  readonly [extension: string]: unknown;
}

/** Renders any thrown value. The message of a bug is withheld; `requestId` lets an operator find it in the log. */
export function toProblem(
  error: unknown,
  { instance, requestId }: { instance?: string; requestId?: string } = {},
): Problem {
  const code: ProblemCode = error instanceof MeshError ? error.code : 'internal';
  const detail =
    error instanceof MeshError
      ? error.message
      : `The request could not be completed. Quote request ${requestId ?? 'id'} to the operator.`;
  return {
    ...(error instanceof MeshError ? error.details : {}),
    type: `urn:mesh:problem:${code}`,
    ...problems[code],
    detail,
    ...(instance !== undefined && { instance }),
    ...(requestId !== undefined && { requestId }),
    code,
  };
}
