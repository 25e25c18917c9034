import type { Problem } from '../../core/errors.ts';
import { type Input, type Operation, requestOf, sampleOf } from '../sample-requests.ts';
import type { Verdict } from './standing.ts';
import { verdictOf } from './verdict.ts';

type Send = (path: string, token: string | undefined, init: RequestInit) => Promise<Response>;

/** Where the sample of an input would not do. */
const INPUTS: Readonly<Record<string, Input>> = {
  // Refused for its field: a wrong password would be answered with the status of a missing token, and be counted.
  log_in: { surely_unknown: 1 },
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

/** Everything that a client can see of an answer, as one text; `name` stands for what was asked for. */
export async function seenBy(
  send: Send,
  operation: Operation,
  bearer: string | undefined,
  name: string,
): Promise<string> {
  const [path, init] = requestOf(operation, inputOf(operation), name);
  const headers = { ...(init.headers as Record<string, string>), 'x-request-id': SAME_REQUEST };
  const response = await send(path, bearer, { ...init, headers });
  const shown = [...response.headers].filter(([header]) => header !== 'date');
  return JSON.stringify([response.status, shown, await response.text()]).replaceAll(name, '<workspace>');
}
