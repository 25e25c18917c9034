import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { jsonText, lineText } from '../core/base/as-data.ts';
import { type Problem, toProblem } from '../core/base/errors.ts';
import { getOrInsertComputed } from '../core/base/get-or-insert.ts';
import { newId, SYSTEM_WORKSPACE } from '../core/base/ids.ts';
import { type AnyOperation, isPending } from '../core/base/operation.ts';
import { mayCall } from '../core/call/access.ts';
import { invoke } from '../core/call/invoke.ts';
import { logFailure } from '../core/call/log-failure.ts';
import type { Services } from '../core/workflow/services.ts';
import { answerText } from './answer-text.ts';
import { type GivenArguments, givenArguments } from './given-arguments.ts';
import { ownToolNames } from './own-tool-names.ts';
import { describeTool, type ToolDescriptions } from './schemas.ts';
import type { McpOptions, Principal } from './surface.ts';

export interface Tools {
  /** The tools that this caller may call, in the order of the surface. */
  list(principal: Principal): Promise<Tool[]>;
  /** Undefined when there is no tool of this name. */
  call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    principal: Principal,
    signal: AbortSignal,
  ): Promise<CallToolResult> | undefined;
}

export function buildTools({ operations, tools: names, gate, log, observe }: McpOptions): Tools {
  const byName = new Map(operations.map((operation) => [operation.name, operation]));
  const surface = names.flatMap((name) => byName.get(name) ?? []);
  const described = new Map<string, ToolDescriptions>();
  const withOwnNames = ownToolNames(operations);
  const given = new Map<string, GivenArguments>();
  const exposed = new Set(surface.map(({ name }) => name));

  function describe(operation: AnyOperation<Services>): ToolDescriptions {
    const known = described.get(operation.name) ?? describeTool(operation);
    described.set(operation.name, known);
    return known;
  }

  function visibleTo({ caller }: Principal, workspaces: readonly string[]) {
    return surface.filter((operation) => workspaces.some((workspace) => mayCall(operation, caller, workspace)));
  }

  /** Returns a value whose texts name tools of the caller alone. */
  function named<T>(value: T, visible: readonly { readonly name: string }[]): T {
    const text = JSON.stringify(value);
    const own = withOwnNames(text, new Set(visible.map(({ name }) => name)));
    return own === text ? value : JSON.parse(own);
  }

  async function failureFor(problem: Problem, principal: Principal): Promise<CallToolResult> {
    const visible = visibleTo(principal, await workspacesOf(principal, gate));
    return failure(named(problem, visible));
  }

  async function run(
    operation: AnyOperation<Services>,
    args: Readonly<Record<string, unknown>>,
    principal: Principal,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    const { caller, workspaceHint, origin, readAt, requestId = newId('r') } = principal;
    const startedAt = performance.now();
    let outcome = 'ok';
    try {
      const raw = getOrInsertComputed(given, operation.name, () => givenArguments(operation))(args);
      const call = { raw, bearer: undefined, caller, workspaceHints: [workspaceHint], face: 'mcp' as const };
      const answer = await invoke(operation, { ...call, origin, requestId, signal, readAt }, gate);
      return success(answer, isPending(answer) ? undefined : operation.brief);
    } catch (error) {
      const problem = toProblem(error, { requestId });
      outcome = problem.code;
      logFailure(log, error, problem, { tool: operation.name, actor: caller.subject, address: origin });
      return await failureFor(problem, principal);
    } finally {
      const seconds = (performance.now() - startedAt) / 1_000;
      observe?.(operation.name, outcome, seconds);
      const fields = { requestId, tool: operation.name, actor: caller.subject, address: origin, outcome };
      log.debug({ ...fields, ms: Math.round(seconds * 1_000) }, 'tool call');
    }
  }

  return {
    async list(principal) {
      const workspaces = await workspacesOf(principal, gate);
      const visible = visibleTo(principal, workspaces);
      return visible.map((operation) => {
        const { plain, withWorkspace } = describe(operation);
        const isOne = workspaces.length === 1 && workspaces[0] !== SYSTEM_WORKSPACE;
        return named(isOne ? plain : withWorkspace, visible);
      });
    },
    call(name, args, principal, signal) {
      const operation = exposed.has(name) ? byName.get(name) : undefined;
      return operation && run(operation, args, principal, signal);
    },
  };
}

/** Where the caller can work: the named workspace alone, else all of its own. A platform admin's own are not listed. */
export async function workspacesOf(
  { caller, workspaceHint }: Principal,
  gate: McpOptions['gate'],
): Promise<readonly string[]> {
  if (workspaceHint) {
    const named = await gate.workspaceId(workspaceHint);
    return named !== undefined && (caller.workspaces === 'all' || caller.workspaces.includes(named)) ? [named] : [];
  }
  return caller.workspaces === 'all' ? [SYSTEM_WORKSPACE] : caller.workspaces;
}

/** The text suffices alone: some clients drop `structuredContent`. */
function success(value: unknown, brief: AnyOperation<Services>['brief']): CallToolResult {
  const shown = brief ? brief(value as never) : value;
  const content: CallToolResult['content'] = [{ type: 'text', text: answerText(shown) }];
  const structured = typeof value === 'object' && value !== null && !Array.isArray(value);
  return structured ? { content, structuredContent: value as Record<string, unknown> } : { content };
}

/** Without `structuredContent`: a v1 client checks that against the tool's output schema, and would lose the problem. */
export function failure(problem: Problem): CallToolResult {
  const texts = [lineText(`${problem.title}: ${problem.detail}`), jsonText(problem)];
  return { isError: true, content: texts.map((text) => ({ type: 'text' as const, text })) };
}
