import type { Problem } from '../../core/base/errors.ts';
import { ABSENT, type Input, type Operation, requestOf, sampleOf } from '../kits/http/sample-requests.ts';
import type { Verdict } from './standing.ts';
import { verdictOf } from './verdict.ts';

type Request = ReturnType<typeof requestOf>;
type Send = (path: string, token: string | undefined, init: RequestInit) => Promise<Response>;

/** Where the sample of an input would not do. */
const INPUTS: Readonly<Record<string, Input>> = {
  // Refused for its field: a wrong password would be answered with the status of a missing token, and be counted.
  log_in: { surely_unknown: 1 },
  add_passkey: { name: 'absent-1', passkey: { id: 'absent-1', clientDataJSON: 'e30', attestationObject: 'oA' } },
  // Not the one that an earlier caller may have made: whose it is would decide.
  renew_agent: { id: 'absent-2' },
  delegate_agent: { id: 'self', subAgentName: 'absent-1', ttl: 'absent-1', policyPreset: 'isolated' },
  // No name that others act on.
  rename_own_device: { name: 'renamed' },
};

/** An input that an operation takes up, and that names nothing that exists. The token is not part of it. */
export function inputOf(operation: Operation): Input {
  const { token: _, ...input } = INPUTS[operation.name] ?? sampleOf(operation);
  return input;
}

/** What an operation answers to a credential, over REST. */
export async function restVerdict(
  send: Send,
  operation: Operation,
  bearer: string | undefined,
  workspace: string,
  more: Input = {},
): Promise<Verdict> {
  const [path, init] = requestOf(operation, { ...inputOf(operation), ...more }, workspace);
  const response = await send(path, bearer, init);
  const text = await response.text();
  return response.ok ? 'yes' : verdictOf(operation, JSON.parse(text) as Problem);
}

/** In the place of an id that would differ. */
const SAME_REQUEST = 'r_same_one';

/** Everything that a client can see of an answer, as one text, without the name that stands in the request. */
export async function seenBy(send: Send, bearer: string | undefined, request: Request, name: string): Promise<string> {
  const [path, init] = request;
  const headers = { ...(init.headers as Record<string, string>), 'x-request-id': SAME_REQUEST };
  const response = await send(path, bearer, { ...init, headers });
  const shown = [...response.headers].filter(([header]) => header !== 'date');
  return JSON.stringify([response.status, shown, await response.text()]).replaceAll(name, '<name>');
}

/** A request about a workspace. */
export function requestIn(workspace: string, operation: Operation): Request {
  return requestOf(operation, inputOf(operation), workspace);
}

/** A request that names a record wherever its input has to name something. */
export function requestAbout(record: string, operation: Operation, workspace: string): Request {
  const named = Object.entries(inputOf(operation)).map(([field, value]) => [field, value === ABSENT ? record : value]);
  return requestOf(operation, Object.fromEntries(named), workspace);
}

/** Whether an operation is about something that its input has to name. A membership makes a name of any text. */
export function namesRecords(operation: Operation): boolean {
  const { name, http, input } = operation;
  if (name === 'set_member' || !Object.values(inputOf(operation)).includes(ABSENT)) return false;
  const hasId = Object.keys(input.shape).some((field) => field.endsWith('_id'));
  return http.method === 'get' || /:(?!workspaceId)/.test(http.path) || hasId;
}
