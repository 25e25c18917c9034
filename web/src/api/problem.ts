/** What is wrong with one field, of one document where several were sent. */
export interface FieldFault {
  readonly pointer: string;
  readonly detail: string;
  readonly document?: { readonly kind: string; readonly name: string };
}

interface ProblemBody {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly status?: number;
  readonly requestId?: string;
  readonly known_since?: string;
  readonly errors?: readonly FieldFault[];
  readonly [extension: string]: unknown;
}

/** A refusal of the API (RFC 9457), or that it could not be reached. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly title: string;
  readonly code: string;
  readonly status: number;
  readonly requestId: string | undefined;
  /** Since when the past is known, where that is why. */
  readonly knownSince: string | undefined;
  readonly errors: readonly FieldFault[];
  /** What this kind of problem says besides. */
  readonly more: Readonly<Record<string, unknown>>;

  constructor({
    title = 'Unexpected answer',
    detail = '',
    code = '',
    status = 0,
    requestId,
    known_since: knownSince,
    errors = [],
    ...more
  }: ProblemBody) {
    super(detail);
    this.title = title;
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.knownSince = knownSince;
    this.errors = errors;
    this.more = more;
  }

  /** Texts that this kind of problem lists under a name. */
  listed(name: string): readonly string[] {
    const value = this.more[name];
    return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
  }
}

export function unreachable(): Problem {
  const detail = 'The control plane does not answer. Check the connection, then try again.';
  return new Problem({ title: 'Not reachable', detail, code: 'unreachable' });
}

/** @param body what was answered, if it was JSON */
export function problemOf(status: number, body: unknown): Problem {
  const fields = typeof body === 'object' && body !== null && 'title' in body ? (body as ProblemBody) : {};
  return new Problem({ detail: `HTTP ${status}`, ...fields, status });
}
