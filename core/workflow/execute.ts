import { requireAssertions } from '../assertions/guard.ts';
import { principalOf } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { isAgentId } from '../base/ids.ts';
import { type CommitContext, type Op, StoreError } from '../base/ports.ts';
import { serialized } from '../base/serialize.ts';
import { hasEnded } from '../base/time.ts';
import { agentLineage } from '../identity/agent-lineage.ts';
import { requireActiveOwners } from '../identity/current-rights.ts';
import { assessProposal } from '../intent/plan/assessed.ts';
import { storedReading } from '../intent/plan/check.ts';
import { orderedPolicies } from '../intent/plan/shown-changes.ts';
import { findWorkflow, type WorkflowRecord, type WorkflowStatus } from '../model/workflow-records.ts';
import { withAuthor } from '../write/credentials.ts';
import { callExecution, NotExecuted, wasExecuted } from './execute-call.ts';
import { requireMatching } from './reassess.ts';
import { isRefusal, isTooMuchNow, reasonOf } from './refusal.ts';
import type { Services } from './services.ts';
import { statusOp } from './workflow-record.ts';

/**
 * Executes an approved workflow. Its first writes and its new state are one commit, so it can begin again after a crash at
 * any point, and on two control planes at once. Leaves a workflow alone that is not approved.
 *
 * @param onRefused receives why the workflow has failed, once that is written
 */
export async function executeWorkflow(
  services: Services,
  workspace: string,
  id: string,
  requestId: string,
  onRefused?: (error: unknown) => void,
): Promise<WorkflowRecord> {
  const { store, clock } = services;
  const workflow = await findWorkflow(services, workspace, id);
  const { call } = workflow.spec;
  const execution = call
    ? await callExecution(services, workflow, call, requestId)
    : () => serialized(store, workspace, () => executeChanges(services, workspace, id, requestId), clock);
  try {
    await execution?.();
  } catch (error) {
    // Whoever executes it writes how it ended.
    if (error instanceof NotExecuted) return findWorkflow(services, workspace, id);
    // Upkeep tries again what could not be tried, until the workflow expires.
    if (!isRefusal(error) && !hasEnded(workflow.spec, clock.now())) throw error;
    await serialized(store, workspace, () => fail(services, workspace, id, error, requestId));
    onRefused?.(error);
  }
  return findWorkflow(services, workspace, id);
}

/** As {@link executeWorkflow}, and leaves to upkeep what other writers or the quota of the caller keep from being executed now. */
export async function executeOrLater(
  services: Services,
  workspace: string,
  id: string,
  requestId: string,
  onRefused?: (error: unknown) => void,
): Promise<WorkflowRecord> {
  try {
    return await executeWorkflow(services, workspace, id, requestId, onRefused);
  } catch (error) {
    const isForLater = error instanceof StoreError ? !error.isOutage : isTooMuchNow(error);
    if (!isForLater) throw error;
    return findWorkflow(services, workspace, id);
  }
}

async function executeChanges(services: Services, workspace: string, id: string, requestId: string): Promise<void> {
  let workflow = await findWorkflow(services, workspace, id);
  if (workflow.status.state === 'approved') {
    await moveTo(services, workflow, { state: 'executing' }, [], requestId);
    workflow = await findWorkflow(services, workspace, id);
  }
  if (workflow.status.state !== 'executing') return;
  const { spec } = workflow;
  const requireAtCommit = () => requireActiveOwners(services, workspace, spec);
  await requireAtCommit();
  const proposal = { ...spec, ...storedReading(spec) };
  const assessment = await services.computed(
    assessProposal,
    { proposal, requester: { id: spec.requesterId, peer: spec.requesterPeer } },
    { workspace, principal: await payerOf(services, workflow), requestId },
  );
  if (assessment.digest !== spec.digest) {
    throw new MeshError('plan_stale', 'The network has changed since, and the change would not do now what it showed.');
  }
  requireAssertions(assessment.broken);
  requireMatching(spec, assessment);
  if (spec.autoApprove && assessment.beyond) {
    throw new MeshError(
      'plan_stale',
      'The change is beyond the reach of the agent by now, so a person has to approve it.',
    );
  }
  const agent = spec.autoApprove && isAgentId(spec.requesterId) ? spec.requesterId : undefined;
  const ordered = orderedPolicies(spec, spec.requesterId);
  const ops = assessment.ops.map((op) => withAuthor(op, { agent, ordered }));
  await moveTo(services, workflow, { state: 'executed' }, ops, requestId, {
    readSet: assessment.readSet,
    requireAtCommit,
    ...(ordered && { ordered }),
  });
}

/** Charges the compute quota to the approver, else to the requester, as {@link principalOf} says. */
async function payerOf({ store }: Services, { workspace, spec, status }: WorkflowRecord): Promise<string> {
  if (status.reviewedBy !== undefined) return status.reviewedBy;
  const { requesterId: id } = spec;
  const line = isAgentId(id) ? await agentLineage(store, workspace, id) : undefined;
  return principalOf({ id, line: line?.map(({ uid }) => uid) ?? [] });
}

async function moveTo(
  { store }: Services,
  workflow: WorkflowRecord,
  change: Partial<WorkflowStatus>,
  ops: readonly Op[],
  requestId: string,
  more: Pick<CommitContext, 'readSet' | 'requireAtCommit' | 'ordered'> = {},
): Promise<void> {
  const { workspace, name, spec, status } = workflow;
  const context: CommitContext = {
    actor: spec.requestedBy,
    reason: `workflow ${name} ${change.state ?? ''}: ${spec.summary}`,
    requestId,
    approval: { workflowId: name, reviewedBy: status.reviewedBy ?? '' },
    ...more,
    ...(status.reviewedBy && { isApproved: true }),
  };
  await store.commit(workspace, [...ops, statusOp(workflow, change)], context);
}

/** Leaves a workflow alone that somebody else has moved; a call that was executed before has not failed. */
async function fail(
  services: Services,
  workspace: string,
  id: string,
  error: unknown,
  requestId: string,
): Promise<void> {
  const workflow = await findWorkflow(services, workspace, id);
  if (workflow.status.state !== 'approved' && workflow.status.state !== 'executing') return;
  const isDone = await wasExecuted(services.store, workflow);
  const end = isDone ? ({ state: 'executed' } as const) : ({ state: 'failed', error: reasonOf(error) } as const);
  await moveTo(services, workflow, end, [], requestId);
}
