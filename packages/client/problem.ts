/** A wrong field of a request. */
export interface FieldFault {
  /** JSON pointer (RFC 6901) into the request. */
  readonly pointer: string;
  readonly detail: string;
  /** The document that has it, where several were sent. */
  readonly document?: { readonly kind: string; readonly name: string };
}

interface Fields {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly requestId?: string;
  readonly errors?: readonly FieldFault[];
  readonly [extension: string]: unknown;
}

/** A refusal of the control plane (RFC 9457), or that it could not be reached. */
export class MeshProblem extends Error {
  override readonly name = 'MeshProblem';
  /** Stable, one of docs/errors.md; `unreachable` where nothing answered, `unexpected` where something else did. */
  readonly code: string;
  readonly title: string;
  /** What happened and what to do. */
  readonly detail: string;
  /** HTTP status; 0 where nothing answered, 200 where a stream that had begun was ended. */
  readonly status: number;
  /** For the operator, who finds the request by it in the log. */
  readonly requestId: string | undefined;
  readonly errors: readonly FieldFault[];
  /** Seconds to wait before another try, where the control plane says so. */
  readonly retryAfter: number | undefined;
  /** Everything that was answered, with what this kind of problem says besides. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Fields, { retryAfter, ...options }: ErrorOptions & { retryAfter?: number } = {}) {
    const {
      code = 'unexpected',
      title = 'Unexpected answer',
      detail = `HTTP ${status}`,
      requestId,
      errors = [],
    } = body;
    super(detail, options);
    this.code = code;
    this.title = title;
    this.detail = detail;
    this.status = status;
    this.requestId = requestId;
    this.errors = errors;
    this.retryAfter = retryAfter;
    this.body = body;
  }
}

/** Reads what was answered instead of success. A proxy may have answered, with something else than a problem. */
export async function problemOf(response: Response): Promise<MeshProblem> {
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json');
  const body = isProblem ? await response.text().then(fieldsOf) : {};
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new MeshProblem(response.status, body, Number.isNaN(seconds) ? {} : { retryAfter: seconds });
}

function fieldsOf(text: string): Fields {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

export function unreachable(cause: unknown): MeshProblem {
  const detail = 'The control plane does not answer. Check the address and the connection, then try again.';
  return new MeshProblem(0, { code: 'unreachable', title: 'Not reachable', detail }, { cause });
}
