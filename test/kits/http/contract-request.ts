import type { Client } from '@modelcontextprotocol/client';
import { type ContractRequest, type RequirementId, requirements } from '../../requirements.ts';

type With<Field extends string> = {
  [Id in RequirementId]: (typeof requirements)[Id] extends { readonly [K in Field]: unknown } ? Id : never;
}[RequirementId];

export interface Given {
  /** Values for the parameters of the path, in their order. */
  readonly path?: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Sends a request as the contract shows it, and nothing that it does not show. */
export async function sendRequest(url: string, id: With<'request'>, given: Given) {
  const response = await sendForBytes(url, id, given);
  // biome-ignore lint/suspicious/noExplicitAny: each scenario knows the answer of the route it calls.
  return { status: response.status, body: (await response.json()) as any };
}

/** As `sendRequest`, for an answer that is no JSON. */
export async function sendForBytes(
  url: string,
  id: With<'request'>,
  { path = [], query = {}, headers = {}, body = {} }: Given,
): Promise<Response> {
  const quoted: ContractRequest = requirements[id].request;
  requireSame(id, 'query', quoted.query, query);
  requireSame(id, 'headers', quoted.headers, headers);
  requireSame(id, 'body', quoted.body, body);
  const values = [...path];
  const place = quoted.path.replaceAll(/:\w+/g, () => encodeURIComponent(values.shift() ?? ''));
  const search = quoted.query ? `?${new URLSearchParams(query)}` : '';
  const response = await fetch(`${url}${place}${search}`, {
    method: quoted.method,
    headers: { ...headers, ...(quoted.method === 'POST' && { 'Content-Type': 'application/json' }) },
    ...(quoted.body && { body: JSON.stringify(body) }),
  });
  return response;
}

/** Calls a tool with the arguments that the contract names, and no others. */
export function callContractTool(client: Client, id: With<'tool'>, given: Readonly<Record<string, unknown>>) {
  const { name, arguments: quoted } = requirements[id].tool;
  requireSame(id, 'arguments', quoted, given);
  return client.callTool({ name, arguments: given });
}

function requireSame(id: string, what: string, quoted: readonly string[] = [], given: object): void {
  const [wanted, sent] = [quoted, Object.keys(given)].map((names) => names.toSorted().join(', '));
  if (wanted !== sent) throw new TypeError(`The contract shows ${what} {${wanted}} for ${id}, not {${sent}}.`);
}
