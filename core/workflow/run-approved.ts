import { guardedStore } from '../authority/guarded-store.ts';
import { NeedsPerson } from '../authority/needs-person.ts';
import { MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import { serialised } from '../base/serialise.ts';
import type { WorkflowRecord, WorkflowStatus } from '../model/asked.ts';
import { wasCarriedOut } from './carried-out.ts';
import { isRefusal, reasonOf } from './refusal.ts';
import type { Services } from './services.ts';
import { workflowDraft } from './workflow-record.ts';

type Run<T> = (held: CallContext<Services>) => Promise<T>;

/**
 * Carries an approved call out as who asked for it, unless another one does so at the same moment, or did. Its first commit
 * in the workspace of a workflow says that this is executed, so it is carried out once; where nothing was written the
 * workflows have failed. What was begun, here or before a control plane ended, is not begun again, nor has it failed: what
 * deletes or disables goes on by itself (core/identity/leave.ts).
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
  const answer = await alone(services, first, async () => {
    for (const workflow of workflows) await requireUntaken(services, workflow);
    if (!(await wasCarriedOut(services.store, first))) return { value: await runAlone(context, first, workflows, run) };
    for (const workflow of workflows) await markCarriedOut(services, workflow);
    throw new NotCarriedOut(first.name, 'executed by now');
  });
  if (!answer) throw new NotCarriedOut(first.name, 'carried out at this moment');
  return answer.value;
}

/** Says of an approved call that it is executed, where it was carried out before a control plane ended; else nothing. */
export async function settleCarriedOut(services: Services, workflow: WorkflowRecord): Promise<void> {
  await alone(services, workflow, async () => {
    if (await wasCarriedOut(services.store, workflow)) await markCarriedOut(services, workflow);
  });
}

/** @returns undefined where another one works at the call at this moment */
async function alone<T>(
  services: Services,
  { name, spec }: WorkflowRecord,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const ended = await services.callsUnderWay.begin(spec.call?.digest ?? name);
  if (!ended) return undefined;
  try {
    return await work();
  } finally {
    await ended().catch((error: unknown) =>
      services.log.warn({ workflow: name, error: String(error) }, 'the end of an approved call could not be noted yet'),
    );
  }
}

/** The call is another's to carry out, or has ended: nothing more was written here. */
export class NotCarriedOut extends MeshError {
  /** Whether another one has carried it out, or what was begun here before. */
  readonly isDone: boolean;

  constructor(workflow: string, what: string, isDone = false) {
    const message = `The workflow ${workflow} is ${what}, and was not carried out again: look at it.`;
    super('conflict', message, { workflow_id: workflow });
    this.isDone = isDone;
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
  let isBegun = false;
  const takeOps = async (partition: string): Promise<readonly Op[]> => {
    for (const workflow of left.values()) await requireUntaken(services, workflow);
    const workflow = left.get(partition);
    return workflow ? [statusOp(workflow, { state: 'executed' })] : [];
  };
  const taken = (partition: string) => {
    isBegun = true;
    left.delete(partition);
  };
  const approval = { workflowId: first.name, reviewedBy: first.status.reviewedBy ?? '' };
  const because: CommitContext = {
    actor: caller?.subject ?? 'anonymous',
    reason: `workflow ${first.name} executed: ${first.spec.summary}`,
    requestId,
    approval,
    isApproved: approval.reviewedBy !== '',
  };
  const approved = {
    approval,
    workspaces: new Set(left.keys()),
    shown: first.spec.call?.shown ?? '',
    failsControls: new Set(workflows.flatMap(({ spec }) => spec.failsControls ?? [])),
    takeOps,
    taken,
  };
  const held = { ...context, services: { ...services, store: guardedStore(services, caller, approved) } };
  const [ended] = await Promise.allSettled([run(held)]);
  if (ended.status === 'rejected' && !isBegun) {
    for (const workflow of workflows) await markFailed(services, workflow, ended.reason, because);
    throw ended.reason;
  }
  // What was written in another partition, such as accounts, or nothing at all; or what is begun, and goes on by itself.
  for (const partition of [...left.keys()]) {
    await services.store.commit(partition, await takeOps(partition), because);
    taken(partition);
  }
  if (ended.status === 'rejected') throw ended.reason;
  return ended.value;
}

/** Another one may have carried it out meanwhile, or it was withdrawn. @throws NotCarriedOut */
async function requireUntaken(
  { store }: Pick<Services, 'store'>,
  { workspace, name, revision }: WorkflowRecord,
): Promise<void> {
  const now = await store.get(workspace, { kind: 'Workflow', name });
  if (now?.revision === revision) return;
  const state = now?.status.state ?? 'gone';
  throw new NotCarriedOut(name, `${state} by now`, state === 'executed');
}

/** @throws StoreError `conflict` where it was moved on meanwhile */
async function markCarriedOut({ store }: Pick<Services, 'store'>, workflow: WorkflowRecord): Promise<void> {
  const { workspace, name, spec, status } = workflow;
  await store.commit(workspace, [statusOp(workflow, { state: 'executed' })], {
    actor: 'system:workflows',
    reason: `workflow ${name} was executed before a control plane ended: ${spec.summary}`,
    requestId: `resume-${name}`,
    approval: { workflowId: name, reviewedBy: status.reviewedBy ?? '' },
  });
}

async function markFailed(
  { store }: Pick<Services, 'store'>,
  { workspace, name, revision }: WorkflowRecord,
  error: unknown,
  because: CommitContext,
): Promise<void> {
  if (!isRefusal(error) || error instanceof NeedsPerson || (error instanceof NotCarriedOut && error.isDone)) return;
  await serialised(store, workspace, async () => {
    const now = await store.get(workspace, { kind: 'Workflow', name });
    if (now?.revision !== revision) return;
    const context = { ...because, reason: `workflow ${name} failed` };
    await store.commit(workspace, [statusOp(now, { state: 'failed', error: reasonOf(error) })], context);
  });
}

function statusOp({ name, spec, status, revision }: WorkflowRecord, change: Partial<WorkflowStatus>): Op {
  return { op: 'update', record: workflowDraft(name, spec, { ...status, ...change }), revision };
}
