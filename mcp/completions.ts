import type { CompleteRequestParams } from '@modelcontextprotocol/server';
import { lineText } from '../core/base/as-data.ts';
import type { McpOptions, Principal } from './surface.ts';
import { type Tools, workspacesOf } from './tools.ts';

/** Which list offers values for an argument of a prompt or a variable of a resource template. */
function sourceOf({ ref, argument }: CompleteRequestParams): { tool: string; fields: readonly string[] } | undefined {
  const inTemplate = ref.type === 'ref/resource' ? ref.uri : '';
  if (argument.name === 'src' || argument.name === 'dst') return { tool: 'list_peers', fields: ['name'] };
  if (argument.name === 'workflow_id') return { tool: 'list_workflows', fields: ['id', 'workflow_id'] };
  if (argument.name !== 'id') return undefined;
  if (inTemplate.includes('/snapshots/')) return { tool: 'list_snapshots', fields: ['id', 'snapshot_id'] };
  if (inTemplate.includes('/workflows/')) return { tool: 'list_workflows', fields: ['id', 'workflow_id'] };
  return undefined;
}

/** Values of the protocol's limit. */
const MAX_VALUES = 100;

/** Ids and names that begin with what was typed, as far as they can be seen; none where the caller may not list them. */
export async function complete(
  params: CompleteRequestParams,
  tools: Tools,
  gate: McpOptions['gate'],
  principal: Principal,
  signal: AbortSignal,
): Promise<string[]> {
  const typed = params.argument.value;
  if (params.argument.name === 'w') {
    const { caller } = principal;
    const own = caller.workspaces === 'all' ? [] : await workspacesOf(principal, gate);
    return own.filter((id) => id.startsWith(typed)).slice(0, MAX_VALUES);
  }
  const source = sourceOf(params);
  const chosen = params.context?.arguments?.['w'];
  const within = chosen === undefined ? principal : { ...principal, workspaceHint: chosen };
  const result = source && (await tools.call(source.tool, { limit: 200 }, within, signal));
  const { items } = (result?.structuredContent ?? {}) as { items?: unknown };
  if (!source || !Array.isArray(items)) return [];
  const values = items.flatMap((item: Readonly<Record<string, unknown>>) => {
    const value = source.fields.map((field) => item[field]).find((found) => typeof found === 'string');
    return typeof value === 'string' && value.startsWith(typed) && lineText(value) === value ? [value] : [];
  });
  return values.slice(0, MAX_VALUES);
}
