import { guardedStore } from '../authority/guarded-store.ts';
import { NeedsPerson } from '../authority/needs-person.ts';
import { MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import { serialised } from '../base/serialise.ts';
import type { WorkflowRecord, WorkflowStatus } from '../model/asked.ts';
import { isRefusal, reasonOf } from './refusal.ts';
import type { Services } from './services.ts';
import { workflowDraft } from './workflow-record.ts';

type Run<T> = (held: CallContext<Services>) => Promise<T>;

/**
 * Carries an approved call out as who asked for it, unless another one does so at the same moment. Its first commit in the
 * workspace of a workflow says that this is executed, so it is carried out once; where it fails the workflows have failed.
 *
 * @param workflows one for each workspace whose people approved it
 * @throws NotCarriedOut where it is, or was, another's
 */
export async function runApproved<T>(
  context: CallContext<Services>,
  workflows: readonly WorkflowRecord[],
  run: Run<T>,
): Promise<T> {
  const { services } = context;
  const [first] = workflows;
  if (!first) throw new TypeError('Nobody approved this call.');
  const ended = await services.callsUnderWay.begin(first.spec.call?.digest ?? first.name);
  if (!ended) throw new NotCarriedOut(first.name, 'carried out at this moment');
  try {
    for (const workflow of workflows) await requireUntaken(services, workflow);
    return await runAlone(context, first, workflows, run);
  } finally {
    await ended().catch((error: unknown) =>
      services.log.warn(
        { workflow: first.name, error: String(error) },
        'the end of an approved call could not be noted yet',
      ),
    );
  }
}

/** The call is another's to carry out, or has ended: nothing was written here. */
export class NotCarriedOut extends MeshError {
  constructor(workflow: string, what: string) {
    const message = `The workflow ${workflow} is ${what}, and was not carried out again: look at it.`;
    super('conflict', message, { workflow_id: workflow });
  }
}

async function runAlone<T>(
  context: CallContext<Services>,
  first: WorkflowRecord,
  workflows: readonly WorkflowRecord[],
  run: Run<T>,
): Promise<T> {
  const { services, caller, requestId } = context;
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

/** Another one may have carried it out meanwhile, or it was withdrawn. @throws NotCarriedOut */
async function requireUntaken(
  { store }: Pick<Services, 'store'>,
  { workspace, name, revision }: WorkflowRecord,
): Promise<void> {
  const now = await store.get(workspace, { kind: 'Workflow', name });
  if (now?.revision === revision) return;
  throw new NotCarriedOut(name, `${now?.status.state ?? 'gone'} by now`);
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
    const context = { ...because, reason: `workflow ${name} failed` };
    await store.commit(workspace, [statusOp(now, { state: 'failed', error: reasonOf(error) })], context);
  });
}

function statusOp({ name, spec, status, revision }: WorkflowRecord, change: Partial<WorkflowStatus>): Op {
  return { op: 'update', record: workflowDraft(name, spec, { ...status, ...change }), revision };
}
