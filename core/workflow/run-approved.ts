import { guardedStore } from '../authority/guarded-store.ts';
import { NeedsPerson } from '../authority/needs-person.ts';
import { MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import { serialised } from '../base/serialise.ts';
import type { WorkflowRecord, WorkflowStatus } from '../model/asked.ts';
import { isRefusal } from './refusal.ts';
import type { Services } from './services.ts';
import { workflowDraft } from './workflow-record.ts';

/**
 * Carries an approved call out as who asked for it. Its first commit in the workspace of a workflow says that this is
 * executed, so it is carried out once; where it fails the workflows have failed.
 *
 * @param workflows one for each workspace whose people approved it
 */
export async function runApproved<T>(
  context: CallContext<Services>,
  workflows: readonly WorkflowRecord[],
  run: (held: CallContext<Services>) => Promise<T>,
): Promise<T> {
  const { services, caller, requestId } = context;
  const [first] = workflows;
  if (!first) throw new TypeError('Nobody approved this call.');
  const left = new Map(workflows.map((workflow) => [workflow.workspace, workflow]));
  const takeOps = (partition: string): readonly Op[] => {
    const workflow = left.get(partition);
    left.delete(partition);
    return workflow ? [statusOp(workflow, { state: 'executed' })] : [];
  };
  const approval = { workflowId: first.name, reviewedBy: first.status.reviewedBy ?? '' };
  const because: CommitContext = {
    actor: caller?.subject ?? 'anonymous',
    reason: `workflow ${first.name} executed: ${first.spec.summary}`,
    requestId,
    approval,
    isApproved: approval.reviewedBy !== '',
  };
  try {
    const approved = {
      approval,
      workspaces: new Set(left.keys()),
      shown: first.spec.call?.shown ?? '',
      failsControls: new Set(workflows.flatMap(({ spec }) => spec.failsControls ?? [])),
      takeOps,
    };
    const answer = await run({
      ...context,
      services: { ...services, store: guardedStore(services, caller, approved) },
    });
    // What was written in another partition, such as accounts, or nothing at all.
    for (const partition of [...left.keys()]) await services.store.commit(partition, takeOps(partition), because);
    return answer;
  } catch (error) {
    for (const workflow of workflows) await markFailed(services, workflow, error, because);
    throw error;
  }
}

async function markFailed(
  { store }: Pick<Services, 'store'>,
  { workspace, name, revision }: WorkflowRecord,
  error: unknown,
  because: CommitContext,
): Promise<void> {
  if (!isRefusal(error) || error instanceof NeedsPerson) return;
  await serialised(store, workspace, async () => {
    const now = await store.get(workspace, { kind: 'Workflow', name });
    if (!now || (now.revision !== revision && now.status.state !== 'executed')) return;
    const reason = error instanceof MeshError ? `${error.code}: ${error.message}` : String(error);
    const context = { ...because, reason: `workflow ${name} failed` };
    await store.commit(workspace, [statusOp(now, { state: 'failed', error: reason })], context);
  });
}

function statusOp({ name, spec, status, revision }: WorkflowRecord, change: Partial<WorkflowStatus>): Op {
  return { op: 'update', record: workflowDraft(name, spec, { ...status, ...change }), revision };
}
