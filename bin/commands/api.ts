import { CliError, EXIT, exitCodeOf } from './exit.ts';
import { parseServer, type Target } from './session.ts';

export interface ApiRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
}

const TIMEOUT_MS = 60_000;

/**
 * Calls the control plane and answers its JSON.
 *
 * @throws CliError "title: detail" with the exit code of the problem's class.
 */
export async function callApi({ server, token, workspace }: Target, request: ApiRequest): Promise<unknown> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (token) headers['authorization'] = `Bearer ${token}`;
  if (workspace) headers['x-workspace-id'] = workspace;
  if (request.body !== undefined) headers['content-type'] = request.contentType ?? 'application/json';
  const body = typeof request.body === 'string' ? request.body : JSON.stringify(request.body);
  const response = await fetch(new URL(request.path, parseServer(server)), {
    method: request.method.toUpperCase(),
    headers,
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(request.body !== undefined && { body }),
  }).catch((error: unknown) => {
    throw new CliError(`${server} does not answer (${reasonOf(error)}). Is meshd running there?`, EXIT.unavailable);
  });
  const text = await response.text();
  const answer = parseJson(text);
  if (response.ok) return answer;
  const { title, detail, code, errors } = (answer ?? {}) as Record<string, unknown>;
  const fields = Array.isArray(errors)
    ? errors.map(({ pointer, detail: why }) => `\n  ${pointer}: ${why}`).join('')
    : '';
  const message = title ? `${title}: ${detail}${fields}` : `${server} answered ${response.status}`;
  throw new CliError(message, exitCodeOf(code));
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: string } };
  return cause?.code ?? message;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
