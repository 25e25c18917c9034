import { requireAssertions } from '../assertions/guard.ts';
import { withAuthor } from '../authority/guarded-store.ts';
import { principalOf } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { isAgentId } from '../base/ids.ts';
import { type CommitContext, type Op, StoreError } from '../base/ports.ts';
import { serialised } from '../base/serialise.ts';
import { agentLine } from '../identity/agent-line.ts';
import { callerAgain, requireStanding } from '../identity/standing.ts';
import { type Assessed, assessProposal } from '../intent/plan/assessed.ts';
import { storedReading } from '../intent/plan/check.ts';
import type { WorkflowRecord, WorkflowStatus } from '../model/asked.ts';
import { findWorkflow } from '../model/asked.ts';
import { decidingOn } from './awaited.ts';
import { wasCarriedOut } from './carried-out.ts';
import { callWorkflows, isApprovedIn } from './held-call.ts';
import { isRefusal, isTooMuchNow, reasonOf } from './refusal.ts';
import { NotCarriedOut, runApproved, settleCarriedOut } from './run-approved.ts';
import type { Services } from './services.ts';
import { workflowDraft } from './workflow-record.ts';

type Uses = Services;

/**
 * Carries an approved workflow out: its changes and its new state are one commit, so it can be begun again after a crash
 * at any point, and by two processes at once. A workflow that is not approved is left as it is.
 */
export async function executeWorkflow(
  services: Uses,
  workspace: string,
  id: string,
  requestId: string,
): Promise<WorkflowRecord> {
  const { spec, status } = await findWorkflow(services, workspace, id);
  if (spec.call) {
    if (status.state === 'approved') await executeCall(services, workspace, id, requestId);
    return findWorkflow(services, workspace, id);
  }
  try {
    const work = () => attempt(services, workspace, id, requestId);
    await serialised(services.store, workspace, work, services.clock);
  } catch (error) {
    // What could not be tried is tried again later, but not for ever.
    if (!isRefusal(error) && services.clock.now() < spec.expiresAt) throw error;
    await serialised(services.store, workspace, () => fail(services, workspace, id, error, requestId));
  }
  return findWorkflow(services, workspace, id);
}

/** As {@link executeWorkflow}, of what was put forward or approved a moment ago: where others write or ask too much it is carried on with later, and not refused. */
export async function executeOrLater(
  services: Uses,
  workspace: string,
  id: string,
  requestId: string,
): Promise<WorkflowRecord> {
  try {
    return await executeWorkflow(services, workspace, id, requestId);
  } catch (error) {
    const isForLater = error instanceof StoreError ? !error.isOutage : isTooMuchNow(error);
    if (!isForLater) throw error;
    return findWorkflow(services, workspace, id);
  }
}

/** A call is carried out as who asked for it, if they still may; one with a secret waits until it is repeated. */
async function executeCall(services: Uses, workspace: string, id: string, requestId: string): Promise<void> {
  const workflow = await findWorkflow(services, workspace, id);
  const { call } = workflow.spec;
  if (!call) return;
  const known = await callWorkflows(services, call.approvedIn, call.digest);
  // The people of another workspace have not decided yet; the last of them carries it out.
  const deciding = await decidingOn(services, call.approvedIn);
  if (!call.input || !isApprovedIn(known, [workspace, ...deciding])) return settleCarriedOut(services, workflow);
  const approved = [...known.values()].filter(({ status }) => status.state === 'approved');
  try {
    const caller = await callerAgain(services, call);
    const context = {
      services,
      caller,
      workspace: call.workspace,
      requestId,
      face: 'rest' as const,
      origin: '',
      signal: new AbortController().signal,
    };
    await runApproved(context, approved, (held) => services.perform(call.operation, call.input ?? {}, held));
  } catch (error) {
    // By whoever carries it out it is told how it ended.
    if (error instanceof NotCarriedOut) return;
    if (!isRefusal(error) && services.clock.now() < workflow.spec.expiresAt) throw error;
    await serialised(services.store, workspace, () => fail(services, workspace, id, error, requestId));
  }
}

async function attempt(services: Uses, workspace: string, id: string, requestId: string): Promise<void> {
  let workflow = await findWorkflow(services, workspace, id);
  if (workflow.status.state === 'approved') {
    await moveTo(services, workflow, { state: 'executing' }, [], requestId);
    workflow = await findWorkflow(services, workspace, id);
  }
  if (workflow.status.state !== 'executing') return;
  const { spec } = workflow;
  const requireAskers = () => requireStanding(services, workspace, spec);
  await requireAskers();
  const proposal = { ...spec, ...storedReading(spec) };
  const assessment = await services.computed(
    assessProposal,
    { proposal, requester: { id: spec.requesterId, peer: spec.requesterPeer } },
    { workspace, principal: await askerOf(services, workflow), requestId },
  );
  if (assessment.digest !== spec.digest) {
    throw new MeshError('plan_stale', 'The network has changed since, and the change would not do now what it showed.');
  }
  requireAssertions(assessment.broken);
  // An operator's own write states nothing to be held to; its reviewer saw what it does.
  if (spec.planId !== undefined && !spec.overridden) requireHeld(assessment);
  if (spec.autoApprove && assessment.beyond) {
    throw new MeshError(
      'plan_stale',
      'The change is beyond the reach of the agent by now, so a person has to approve it.',
    );
  }
  const author = spec.autoApprove && isAgentId(spec.requesterId) ? spec.requesterId : undefined;
  const ops = assessment.ops.map((op) => withAuthor(op, author));
  // It was computed meanwhile, and the store that an upkeep job has asks nobody again.
  await requireAskers();
  await moveTo(services, workflow, { state: 'executed' }, ops, requestId, { basis: assessment.basis, requireAskers });
}

/** Who approved it has a share of their own; where nobody did it is of who asked, as {@link principalOf} says. */
async function askerOf({ store }: Uses, { workspace, spec, status }: WorkflowRecord): Promise<string> {
  if (status.reviewedBy !== undefined) return status.reviewedBy;
  const { requesterId: id } = spec;
  const line = isAgentId(id) ? await agentLine(store, workspace, id) : undefined;
  return principalOf({ id, line: line?.map(({ uid }) => uid) ?? [] });
}

/** Nothing may speak against the plan on the network that it is carried out on. */
function requireHeld({ objections }: Assessed): void {
  if (objections.length === 0) return;
  throw new MeshError('plan_stale', `The change would not do what was asked any more: ${objections.join('; ')}.`);
}

async function moveTo(
  { store }: Uses,
  { workspace, name, spec, status, revision }: WorkflowRecord,
  change: Partial<WorkflowStatus>,
  ops: readonly Op[],
  requestId: string,
  rests: Pick<CommitContext, 'basis' | 'requireAskers'> = {},
): Promise<void> {
  const record = workflowDraft(name, spec, { ...status, ...change });
  const context: CommitContext = {
    actor: spec.requestedBy,
    reason: `workflow ${name} ${change.state ?? ''}: ${spec.summary}`,
    requestId,
    approval: { workflowId: name, reviewedBy: status.reviewedBy ?? '' },
    ...rests,
    ...(status.reviewedBy && { isApproved: true }),
  };
  await store.commit(workspace, [...ops, { op: 'update', record, revision }], context);
}

/** A workflow that someone else moved on is left as it is; a call that was carried out before has not failed. */
async function fail(services: Uses, workspace: string, id: string, error: unknown, requestId: string): Promise<void> {
  const workflow = await findWorkflow(services, workspace, id);
  if (workflow.status.state !== 'approved' && workflow.status.state !== 'executing') return;
  const isDone = await wasCarriedOut(services.store, workflow);
  const ended = isDone ? ({ state: 'executed' } as const) : ({ state: 'failed', error: reasonOf(error) } as const);
  await moveTo(services, workflow, ended, [], requestId);
}
