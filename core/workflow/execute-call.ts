import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import type { CommitContext, Op, Store } from '../base/ports.ts';
import { serialized } from '../base/serialize.ts';
import { currentCaller } from '../identity/current-rights.ts';
import { isUndecided, type WorkflowRecord } from '../model/workflow-records.ts';
import { untilApproval } from '../write/outcome.ts';
import { servicesFor } from '../write/pipeline.ts';
import { decidingOn } from './blockers.ts';
import { isRefusal, reasonOf } from './refusal.ts';
import type { Services } from './services.ts';
import { type RequestedCall, statusOp } from './workflow-record.ts';
import { callWorkflows, isApprovedIn, workflowsOf } from './workflows.ts';

type Run<T> = (context: CallContext<Services>) => Promise<T>;

/**
 * Returns the execution of an approved call by its requester, if they still may; undefined where other workspaces have not
 * decided. A call with a secret is repeated by its requester: of that one the execution only checks that they still may.
 */
export async function callExecution(
  services: Services,
  workflow: WorkflowRecord,
  call: RequestedCall,
  requestId: string,
): Promise<(() => Promise<unknown>) | undefined> {
  const { input } = call;
  if (workflow.status.state !== 'approved') return undefined;
  const open = await callWorkflows(services, call.approvedIn, call.digest);
  // The people of another workspace may not have decided yet; the last of them executes it.
  const deciding = await decidingOn(services, call.approvedIn);
  if (!input || !isApprovedIn(open, [workflow.workspace, ...deciding])) {
    await locked(services, workflow, async () => {
      if (await wasExecuted(services.store, workflow)) await markExecuted(services, workflow);
    });
    // Nobody can repeat a call whose requester has ended.
    return input ? undefined : () => currentCaller(services, call);
  }
  const approved = [...open.values()].filter(({ status }) => status.state === 'approved');
  return async () => {
    const caller = await currentCaller(services, call);
    const { workspace } = call;
    const signal = new AbortController().signal;
    const context = { services, caller, workspace, requestId, face: 'rest', origin: '', signal } as const;
    return executeCall(context, approved, (asCaller) => services.perform(call.operation, input, asCaller));
  };
}

/**
 * Executes an approved call as its requester, unless another one does so at the same moment, or did. Its first commit in
 * the workspace of a workflow says that this is executed, so it is executed once; where nothing was written the workflows
 * have failed. A call that has begun, here or before a control plane ended, neither begins again nor fails: deletions and
 * disabled accounts go on by themselves (core/identity/leave.ts).
 *
 * @param workflows one for each workspace whose people approved it
 * @throws NotExecuted where another one executes it, or did; MeshError `conflict` where others have to approve it by now
 */
export async function executeCall<T>(
  context: CallContext<Services>,
  workflows: readonly WorkflowRecord[],
  run: Run<T>,
): Promise<T> {
  const { services } = context;
  const [first] = workflows;
  if (!first) throw new TypeError('Nobody approved this call.');
  const answer = await locked(services, first, async () => {
    for (const workflow of workflows) await requireUnmoved(services, workflow);
    if (!(await wasExecuted(services.store, first))) return { value: await runLocked(context, first, workflows, run) };
    for (const workflow of workflows) await markExecuted(services, workflow);
    throw new NotExecuted(first.name, 'executed by now');
  });
  if (!answer) throw new NotExecuted(first.name, 'carried out at this moment');
  return answer.value;
}

/** @returns undefined where another one works at the call at this moment */
async function locked<T>(
  services: Services,
  { name, spec }: WorkflowRecord,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const release = await services.callLocks.acquire(spec.call?.digest ?? name);
  if (!release) return undefined;
  try {
    return await work();
  } finally {
    await release().catch((error: unknown) =>
      services.log.warn({ workflow: name, error: String(error) }, 'the end of an approved call could not be noted yet'),
    );
  }
}

/** The call is another's to execute, or has ended: this attempt wrote nothing more. */
export class NotExecuted extends MeshError {
  /** Tells whether another one has executed it, or what began here before. */
  readonly isDone: boolean;

  constructor(workflow: string, what: string, isDone = false) {
    const message = `The workflow ${workflow} is ${what}, and was not carried out again: look at it.`;
    super('conflict', message, { workflow_id: workflow });
    this.isDone = isDone;
  }
}

async function runLocked<T>(
  context: CallContext<Services>,
  first: WorkflowRecord,
  workflows: readonly WorkflowRecord[],
  run: Run<T>,
): Promise<T> {
  const { services, caller, requestId } = context;
  const left = new Map(workflows.map((workflow) => [workflow.workspace, workflow]));
  let isBegun = false;
  const takeOps = async (partition: string): Promise<readonly Op[]> => {
    for (const workflow of left.values()) await requireUnmoved(services, workflow);
    const workflow = left.get(partition);
    return workflow ? [statusOp(workflow, { state: 'executed' })] : [];
  };
  const taken = (partition: string) => {
    isBegun = true;
    left.delete(partition);
  };
  const approval = { workflowId: first.name, reviewedBy: first.status.reviewedBy ?? '' };
  const because: CommitContext = {
    actor: caller.subject,
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
  const asCaller = { ...context, services: servicesFor(services, { caller, approved }) };
  const [end] = await Promise.allSettled([untilApproval(() => run(asCaller))]);
  if (end.status === 'rejected' && !isBegun) {
    for (const workflow of workflows) await markFailed(services, workflow, end.reason, because);
    throw end.reason;
  }
  const isRefused = end.status === 'fulfilled' && end.value.status === 'needsApproval' && !isBegun;
  // The call wrote to another partition, such as accounts, or nothing at all; or it has begun, and goes on by itself.
  for (const partition of isRefused ? [] : [...left.keys()]) {
    await services.store.commit(partition, await takeOps(partition), because);
    taken(partition);
  }
  if (end.status === 'rejected') throw end.reason;
  if (end.value.status === 'done') return end.value.answer;
  const reasons = end.value.need.reasons.join('; ');
  throw new MeshError('conflict', `Others have to approve this by now: ${reasons}. Make the call again to ask them.`);
}

/** @throws NotExecuted where another one has executed the call meanwhile, or its requester has withdrawn it */
async function requireUnmoved(
  { store }: Pick<Services, 'store'>,
  { workspace, name, revision }: WorkflowRecord,
): Promise<void> {
  const now = await store.get(workspace, { kind: 'Workflow', name });
  if (now?.revision === revision) return;
  const state = now?.status.state ?? 'gone';
  throw new NotExecuted(name, `${state} by now`, state === 'executed');
}

/** @throws StoreError `conflict` where it was moved meanwhile */
async function markExecuted({ store }: Pick<Services, 'store'>, workflow: WorkflowRecord): Promise<void> {
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
  if (!isRefusal(error) || (error instanceof NotExecuted && error.isDone)) return;
  await serialized(store, workspace, async () => {
    const now = await store.get(workspace, { kind: 'Workflow', name });
    if (now?.revision !== revision) return;
    const context = { ...because, reason: `workflow ${name} failed` };
    await store.commit(workspace, [statusOp(now, { state: 'failed', error: reasonOf(error) })], context);
  });
}

type Reads = Pick<Store, 'list' | 'history' | 'audit'>;

/** The clock of one partition may be this far behind that of another, after the database has another primary. */
const CLOCKS_APART_MS = 3_600_000;
const PAGE = 500;

/**
 * Tells whether an approved call was executed although its workflow does not say so, because a control plane ended between
 * the two. The first commit of a call in the workspace of a workflow says so itself; the audit log tells of its writes
 * elsewhere, by entries that name the workflow which approved them.
 */
export async function wasExecuted(store: Reads, workflow: WorkflowRecord): Promise<boolean> {
  const { call } = workflow.spec;
  if (!call) return false;
  const names = new Set([workflow.name]);
  for (const workspace of call.approvedIn) {
    if (workspace === workflow.workspace) continue;
    for (const other of await workflowsOf({ store }, workspace)) {
      if (other.spec.call?.digest !== call.digest) continue;
      if (isUndecided(other)) names.add(other.name);
      else if (other.status.state === 'executed' && (await endedAt(store, other)) >= workflow.createdAt) return true;
    }
  }
  // An agent writes in its own workspace alone.
  const partitions = call.caller.kind === 'agent' ? [call.workspace] : [SYSTEM_WORKSPACE, call.workspace];
  const elsewhere = partitions.filter((one) => !call.approvedIn.includes(one));
  const query = { actors: [call.caller.subject], from: workflow.createdAt - CLOCKS_APART_MS };
  for (const partition of new Set(elsewhere)) {
    if (await hasCommitOf(store, partition, names, query)) return true;
  }
  return false;
}

/** Nothing writes to a workflow after its execution, so its last version says when it ended. */
async function endedAt(store: Reads, { workspace, name }: WorkflowRecord): Promise<number> {
  return (await store.history(workspace, { kind: 'Workflow', name })).at(-1)?.at ?? 0;
}

async function hasCommitOf(
  store: Reads,
  partition: string,
  workflows: ReadonlySet<string>,
  query: { readonly actors: readonly string[]; readonly from: number },
): Promise<boolean> {
  for (let before: number | undefined; ; ) {
    const page = await store.audit(partition, {
      ...query,
      type: 'commit',
      ...(before !== undefined && { before }),
      limit: PAGE,
    });
    if (page.some(({ commit }) => commit?.approval && workflows.has(commit.approval.workflowId))) return true;
    if (page.length < PAGE) return false;
    before = page.at(-1)?.seq;
  }
}
