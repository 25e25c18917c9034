import { z } from 'zod';
import { jsonText } from '../core/base/as-data.ts';
import type { Caller } from '../core/base/caller.ts';
import { MeshError } from '../core/base/errors.ts';
import { memoize } from '../core/base/memoize.ts';
import type { AnyOperation } from '../core/base/operation.ts';
import type { Log } from '../core/base/ports.ts';
import { type CallRequest, type Gate, invoke } from '../core/call/invoke.ts';
import type { NarrationEvent, Narrator, ReadTool } from '../core/cause/narrator.ts';
import { recordingCalls } from '../core/intent/plan/model-calls.ts';
import type { ModelCall } from '../core/intent/plan/planner.ts';
import type { Services } from '../core/workflow/services.ts';
import type { CauseAnswer, DebugRun } from './debug-runs.ts';

export interface NarrationSource {
  readonly operations: readonly AnyOperation<Services>[];
  readonly gate: Gate<Services>;
  readonly log: Log;
  readonly call: Omit<CallRequest, 'ifMatch'>;
  readonly caller: Caller;
}

/** The tools that a model may call: they only read, and with the rights of the requester. */
const READ_TOOLS: ReadonlySet<string> = new Set([
  ...['list_peers', 'get_peer', 'list_policies', 'check_connectivity', 'check_connectivity_at', 'explain_denial'],
  ...['list_snapshots', 'diff_snapshots', 'get_workflow', 'list_workflows'],
]);
/** Findings that a model is shown. */
const MAX_FINDINGS = 8;
/** Characters of JSON that a model is shown of the answer, and of what a tool answers. */
const MAX_SHOWN = 12_000;

/** Has the answer to a run worded. Each request to the model is an event of the audit log, also where nothing comes of it. */
export async function* narrationOf(
  narrator: Narrator,
  run: DebugRun,
  source: NarrationSource,
  { findings, ...answer }: CauseAnswer,
): AsyncGenerator<NarrationEvent> {
  const { operations, gate, call, caller } = source;
  const { workspace } = run;
  const { services } = gate;
  const made: ModelCall[] = [];
  const question = run.asked['question'] ?? answer.reading;
  try {
    yield* narrator.narrate({
      question: String(question),
      answer: shortened({ ...answer, findings: findings.slice(0, MAX_FINDINGS) }),
      tools: readTools(operations),
      call: (name, args) => answerOf(name, args, workspace, source),
      signal: call.signal,
      onCall: (one) => made.push(one),
    });
  } finally {
    const { requestId, face, origin, signal } = call;
    await recordingCalls({ services, workspace, caller, requestId, face, origin, signal }, async (onCall) => {
      for (const one of made) onCall(one);
    });
  }
}

const readTools = memoize((operations: readonly AnyOperation<Services>[]): readonly ReadTool[] =>
  operations.filter(isReadTool).map(({ name, description, input }) => {
    const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: 'input' });
    return { name, description, parameters };
  }),
);

function isReadTool({ name, effects }: AnyOperation<Services>): boolean {
  return READ_TOOLS.has(name) && effects.readOnlyHint;
}

/** The answer to a call of a model as one JSON document, in the workspace of the run alone. */
async function answerOf(
  name: string,
  { workspace_id: _, ...raw }: Readonly<Record<string, unknown>>,
  workspace: string,
  { operations, gate, call, log }: NarrationSource,
): Promise<string> {
  const operation = operations.find((one) => one.name === name);
  if (!operation || !isReadTool(operation))
    return jsonText({ problem: 'There is no such tool here: use those that are offered.' });
  try {
    const answer = await invoke(operation, { ...call, raw, workspaceHints: [workspace] }, gate);
    return cut(jsonText({ answer: operation.brief ? operation.brief(answer as never) : answer }));
  } catch (error) {
    if (!(error instanceof MeshError))
      log.error({ err: error, requestId: call.requestId, tool: name }, 'a tool failed');
    return cut(jsonText({ problem: error instanceof MeshError ? error.message : 'It failed.' }));
  }
}

function cut(text: string): string {
  return text.length <= MAX_SHOWN ? text : jsonText({ cut_off: text.slice(0, MAX_SHOWN) });
}

/** Fewer findings where all of them are too long. */
function shortened(answer: { readonly findings: readonly unknown[] }): unknown {
  const { findings } = answer;
  const isLong = findings.length > 0 && JSON.stringify(answer).length > MAX_SHOWN;
  return isLong ? shortened({ ...answer, findings: findings.slice(0, -1) }) : answer;
}
