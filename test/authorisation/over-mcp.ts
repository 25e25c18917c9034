import type { Problem } from '../../core/base/errors.ts';
import type { Operation } from '../kits/http/sample-requests.ts';
import { inputOf } from './over-rest.ts';
import type { RawMcp, RpcAnswer } from './raw-mcp.ts';
import type { Verdict } from './standing.ts';
import { type Asked, verdictOf } from './verdict.ts';

const NOT_FOUND = /^Resource not found: /;

/** What a tool answers to a credential. */
export async function toolVerdict(mcp: RawMcp, tool: Operation): Promise<Verdict> {
  const answer = await mcp.send('tools/call', { name: tool.name, arguments: inputOf(tool) });
  if (!answer.result) return refusalOf(tool, answer);
  return answer.result.isError ? verdictOf(tool, JSON.parse(answer.result.content[1].text)) : 'yes';
}

/** What the reading of a resource answers. */
export async function resourceVerdict(mcp: RawMcp, uri: string, reading: Operation): Promise<Verdict> {
  const answer = await mcp.send('resources/read', { uri });
  return answer.result ? 'yes' : refusalOf(reading, answer);
}

/** What each tool behind a prompt brings into it, in their order; the refusal of the prompt itself for each. */
export async function promptVerdicts(
  mcp: RawMcp,
  name: string,
  args: Readonly<Record<string, string>>,
  tools: readonly Operation[],
): Promise<Verdict[]> {
  const answer = await mcp.send('prompts/get', { name, arguments: args });
  if (!answer.result) return tools.map((tool) => refusalOf(tool, answer));
  const texts: readonly string[] = answer.result.messages.map(
    ({ content }: { content: { text: string } }) => content.text,
  );
  return tools.map((tool) => {
    const text = texts.find((part) => part.startsWith(`Data from ${tool.name}:`)) ?? '';
    const [, , language, data = ''] = /^(`{3,})(json|text)\n(.*)\n\1$/ms.exec(text) ?? [];
    if (data === '') throw new Error(`The prompt ${name} brought nothing from ${tool.name}.`);
    return language === 'json' ? verdictOf(tool, JSON.parse(data)) : 'yes';
  });
}

/** Whether a resource may be watched in a session of 2025. */
export async function subscribeVerdict(mcp: RawMcp, uri: string, reading: Operation): Promise<Verdict> {
  const answer = await mcp.send('resources/subscribe', { uri });
  if (answer.result) return 'yes';
  return NOT_FOUND.test(answer.error?.message ?? '') ? 'no' : refusalOf(reading, answer);
}

/** Whether a resource may be watched in a subscription of the current revision, which is ended again. */
export async function listenVerdict(mcp: RawMcp, uri: string, reading: Operation): Promise<Verdict> {
  const answer = await mcp.open('subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } });
  if ('events' in answer) {
    await answer.events.cancel();
    return 'yes';
  }
  const isNotOwn = answer.error?.message.startsWith('You may watch resources of your own workspaces only');
  return isNotOwn ? 'no' : refusalOf(reading, answer);
}

/** Whether a completion offers anything. */
export async function completionVerdict(
  mcp: RawMcp,
  params: Readonly<Record<string, unknown>>,
  listing: Asked,
): Promise<Verdict> {
  const answer = await mcp.send('completion/complete', params);
  if (!answer.result) return refusalOf(listing, answer);
  return answer.result.completion.values.length > 0 ? 'yes' : 'no';
}

function refusalOf(operation: Asked, { error, problem, status }: RpcAnswer): Verdict {
  const told = problem ?? error?.data?.['problem'] ?? (error?.data?.['code'] ? error.data : undefined);
  if (told) return verdictOf(operation, told as Problem);
  // What is not found carries its sentence alone.
  if (error?.code === -32_602 && error.message.startsWith('There is no ')) {
    return verdictOf(operation, { code: 'not_found', status: 404, detail: error.message } as Problem);
  }
  throw new Error(`${operation.name} answered ${status}: ${JSON.stringify(error)}`);
}
