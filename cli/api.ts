import { type FieldError, sentenceOf } from '../core/base/errors.ts';
import { CliError, EXIT, exitCodeOf } from './exit.ts';
import { quoted } from './own-command.ts';
import { DEFAULT_SERVER, isBehindDoor, parseServer, serverOf, type Target } from './session.ts';
import { visibleLine } from './visible.ts';

export interface ApiRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  /** Asked without a token. */
  readonly anonymous?: true;
  readonly timeoutMs?: number;
  /** For resources as documents, which `mesh apply` takes, in place of JSON. */
  readonly asDocuments?: true;
  /** The answer as it is, not as JSON. */
  readonly asBytes?: true;
  /** The answer before its body is read. */
  readonly asResponse?: true;
}

/** The control plane cannot tell which workspace is meant. */
export class WorkspaceNeeded extends CliError {
  constructor() {
    super('Name a workspace with --workspace (MESH_WORKSPACE).', EXIT.input);
  }
}

const TIMEOUT_MS = 60_000;

/**
 * Calls the control plane and answers its JSON, or what its YAML says.
 *
 * @throws CliError "title: detail" with the exit code of the problem's class; what to do is said in commands and options
 */
export async function callApi({ server, token, workspace }: Target, request: ApiRequest): Promise<unknown> {
  if (!request.anonymous) requireSession({ server, token });
  const headers: Record<string, string> = { accept: request.asDocuments ? 'application/yaml' : 'application/json' };
  if (token) headers['authorization'] = `Bearer ${token}`;
  if (workspace) headers['x-workspace-id'] = workspace;
  if (request.body !== undefined) headers['content-type'] = request.contentType ?? 'application/json';
  const body = typeof request.body === 'string' ? request.body : JSON.stringify(request.body);
  const response = await fetch(new URL(request.path, parseServer(server)), {
    method: request.method.toUpperCase(),
    headers,
    signal: AbortSignal.timeout(request.timeoutMs ?? TIMEOUT_MS),
    // Passwords and tokens go to nobody but the server that was named.
    redirect: 'manual',
    ...(request.body !== undefined && { body }),
  }).catch((error: unknown) => {
    throw new CliError(`${server} does not answer (${reasonOf(error)}). Is meshd running there?`, EXIT.unavailable);
  });
  if (response.status >= 300 && response.status < 400) {
    const where = visibleLine(response.headers.get('location') ?? 'nowhere');
    throw new CliError(
      `${server} sends this on to ${where}: if that is your control plane, name its address.`,
      EXIT.unavailable,
    );
  }
  if (response.ok && request.asResponse) return response;
  if (response.ok && request.asBytes) return readBytes(response, server, MAX_ENTRY_BYTES);
  const text = Buffer.from(await readBytes(response, server, MAX_TEXT_BYTES)).toString();
  if (response.ok && request.asDocuments) return (await import('js-yaml')).load(text);
  const answer = parseJson(text);
  if (response.ok) return answer;
  const problem = (answer ?? {}) as Record<string, unknown>;
  const { title, detail, code, errors } = problem;
  if (code === 'password_change_required') {
    throw new CliError('Change the password first: mesh passwd', EXIT.auth, problem);
  }
  if (code === 'second_factor_required') {
    throw new CliError('Administrators need a second factor here: mesh otp enroll', EXIT.auth, problem);
  }
  const wrong: FieldError[] = Array.isArray(errors) ? errors : [];
  if (!workspace && code === 'invalid_input' && wrong.some(({ pointer }) => pointer === '/workspace_id')) {
    throw new WorkspaceNeeded();
  }
  const said = visibleLine(String(detail));
  const fields = wrong
    .map((field) => visibleLine(sentenceOf([field])))
    .filter((sentence, at) => !said.includes(String(wrong[at]?.detail)) && sentence !== '')
    .map((sentence) => `\n  ${sentence}`)
    .join('');
  const message = title
    ? `${visibleLine(String(title))}: ${said}${fields}`
    : `${server} answered ${response.status}, and not as Mesh does.`;
  throw new CliError(message, exitCodeOf(code), problem);
}

/** Matches the escape character in JSON, and every other backslash with the character behind it. */
const ESCAPED = /\\(?:u001b|.)/gi;

/** Maximum bytes of an answer that is read as bytes: an audit log entry on the import of a whole network has some MB. */
const MAX_ENTRY_BYTES = 64 * 1_048_576;
/** Maximum bytes of any other answer: the export of a whole network has less. */
const MAX_TEXT_BYTES = 256 * 1_048_576;

async function readBytes({ body }: Response, server: string, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      bytes += chunk.length;
      if (bytes > limit) throw new Error(`more than ${limit} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw new CliError(`${server} did not end its answer (${reasonOf(error)}).`, EXIT.unavailable);
  }
  return Buffer.concat(chunks);
}

/** @throws CliError that says how to sign in */
export function requireSession({ server, token }: Pick<Target, 'server' | 'token'>): void {
  if (token || isBehindDoor()) return;
  const isMeant = server === (serverOf(undefined) ?? DEFAULT_SERVER);
  throw new CliError(`Sign in first: mesh login${isMeant ? '' : ` --server ${quoted(server)}`}`, EXIT.auth);
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: string } };
  return cause?.code ?? message;
}

/** Removes escape characters from texts of a control plane: colors of an answer are this program's own. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replaceAll(ESCAPED, (found) => (found.length > 2 ? '\\ufffd' : found)));
  } catch {
    return undefined;
  }
}
