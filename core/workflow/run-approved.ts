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
  const takeOps = async (partition: string): Promise<readonly Op[]> => {
    const workflow = left.get(partition);
    if (!workflow) return [];
    await requireUntaken(services, workflow);
    return [statusOp(workflow, { state: 'executed' })];
  };
  const taken = (partition: string) => void left.delete(partition);
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
      taken,
    };
    const answer = await run({
      ...context,
      services: { ...services, store: guardedStore(services, caller, approved) },
    });
    // What was written in another partition, such as accounts, or nothing at all.
    for (const partition of [...left.keys()]) {
      await services.store.commit(partition, await takeOps(partition), because);
      taken(partition);
    }
    return answer;
  } catch (error) {
    for (const workflow of workflows)
      await markFailed(services, workflow, { isOwn: !left.has(workflow.workspace), error, because });
    throw error;
  }
}

/** Another control plane may carry it out at the same moment, or it was withdrawn. @throws MeshError `conflict` */
async function requireUntaken(
  { store }: Pick<Services, 'store'>,
  { workspace, name, revision }: WorkflowRecord,
): Promise<void> {
  const now = await store.get(workspace, { kind: 'Workflow', name });
  if (now?.revision === revision) return;
  const message = `The workflow ${name} is ${now?.status.state ?? 'gone'} by now, and was not carried out again: look at it.`;
  throw new MeshError('conflict', message, { workflow_id: name });
}

interface Failure {
  /** Whether what has been written here says that it is executed, so that it is known not to be another's. */
  readonly isOwn: boolean;
  readonly error: unknown;
  readonly because: CommitContext;
}

async function markFailed(
  { store }: Pick<Services, 'store'>,
  { workspace, name, revision }: WorkflowRecord,
  { isOwn, error, because }: Failure,
): Promise<void> {
  if (!isRefusal(error) || error instanceof NeedsPerson) return;
  await serialised(store, workspace, async () => {
    const now = await store.get(workspace, { kind: 'Workflow', name });
    if (!now || !(now.revision === revision || (isOwn && now.status.state === 'executed'))) return;
    const reason = error instanceof MeshError ? `${error.code}: ${error.message}` : String(error);
    const context = { ...because, reason: `workflow ${name} failed` };
    await store.commit(workspace, [statusOp(now, { state: 'failed', error: reason })], context);
  });
}

function statusOp({ name, spec, status, revision }: WorkflowRecord, change: Partial<WorkflowStatus>): Op {
  return { op: 'update', record: workflowDraft(name, spec, { ...status, ...change }), revision };
}
