import { guardedStore } from '../authority/guarded-store.ts';
import { MeshError } from '../errors.ts';
import { inTurn } from '../network/turn.ts';
import type { CallContext } from '../operation.ts';
import { type CommitContext, type Op, StoreError } from '../ports.ts';
import type { Services } from '../services.ts';
import { type WorkflowRecord, type WorkflowStatus, workflowDraft } from './workflow-record.ts';

/**
 * Carries an approved call out as who asked for it. Its first commit in the workspace of the workflow says that this is
 * executed, so it is carried out once; where it fails the workflow has failed.
 */
export async function runApproved<T>(
  context: CallContext<Services>,
  workflow: WorkflowRecord,
  run: (held: CallContext<Services>) => Promise<T>,
): Promise<T> {
  const { services, caller, requestId } = context;
  const approval = { workflowId: workflow.name, reviewedBy: workflow.status.reviewedBy ?? '' };
  const executed: Op = statusOp(workflow, { state: 'executed' });
  let left: readonly Op[] = [executed];
  const takeOps = (partition: string) => {
    if (partition !== workflow.workspace) return [];
    const taken = left;
    left = [];
    return taken;
  };
  const because: CommitContext = {
    actor: caller?.subject ?? 'anonymous',
    reason: `workflow ${workflow.name} executed: ${workflow.spec.summary}`,
    requestId,
    approval,
  };
  try {
    const store = guardedStore(services, caller, { approval, opened: workflow.spec.call?.opened ?? '', takeOps });
    const answer = await run({ ...context, services: { ...services, store } });
    // What was written in another partition, such as accounts, or nothing at all.
    if (left.length > 0) await services.store.commit(workflow.workspace, takeOps(workflow.workspace), because);
    return answer;
  } catch (error) {
    await markFailed(services, workflow, error, because);
    throw error;
  }
}

async function markFailed(
  { store }: Pick<Services, 'store'>,
  { workspace, name, revision }: WorkflowRecord,
  error: unknown,
  because: CommitContext,
): Promise<void> {
  const refused = error instanceof MeshError || (error instanceof StoreError && error.code !== 'unavailable');
  if (!refused) return;
  await inTurn(store, workspace, async () => {
    const now = (await store.get(workspace, { kind: 'Workflow', name })) as WorkflowRecord | undefined;
    if (!now || (now.revision !== revision && now.status.state !== 'executed')) return;
    const reason = error instanceof MeshError ? `${error.code}: ${error.message}` : String(error);
    const context = { ...because, reason: `workflow ${name} failed` };
    await store.commit(workspace, [statusOp(now, { state: 'failed', error: reason })], context);
  });
}

function statusOp({ name, spec, status, revision }: WorkflowRecord, change: Partial<WorkflowStatus>): Op {
  return { op: 'update', record: workflowDraft(name, spec, { ...status, ...change }), revision };
}
