import { requireAssertions } from '../assertions/guard.ts';
import { beyondDelegation } from '../authority/judge.ts';
import { apiTokenOf, type Caller, principalOf } from '../base/caller.ts';
import { commitContext } from '../base/commit-context.ts';
import { MeshError } from '../base/errors.ts';
import { isAgentId, isDryRunId, newId } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import { type ReadSet, StoreError } from '../base/ports.ts';
import { serialized } from '../base/serialize.ts';
import { hasEnded } from '../base/time.ts';
import { begunText, deadlineOf } from '../intent/plan/approval-deadline.ts';
import { type Assessed, assessProposal } from '../intent/plan/assessed.ts';
import { storedReading } from '../intent/plan/check.ts';
import { type PlanSpec, planDraft } from '../intent/plan/plan-record.ts';
import { isAtMost, withEarlierClosings } from '../intent/verify/risk.ts';
import { CLOSINGS_COUNT_MS } from '../intent/verify/risk-table.ts';
import { findWorkflow, type PlanRecord, type WorkflowRecord } from '../model/workflow-records.ts';
import { workspaceById } from '../model/workspaces.ts';
import { requireApprover } from './approvers.ts';
import { assessmentFields } from './assessment-fields.ts';
import { executeOrLater } from './execute.ts';
import type { Services } from './services.ts';
import { WORKFLOW_TTL_MS, type WorkflowSpec, workflowDraft } from './workflow-record.ts';

/**
 * Uses a plan up and puts it into the approval workflow; where the workspace approves such plans by itself, executes it.
 *
 * @param askedOf user name or id of the person who is asked to approve; it approves nothing
 * @throws MeshError `not_found`, `dry_run`, `forbidden`, `invalid_input`, `conflict` (used), `plan_expired`, `plan_stale`, `policy_assertion_failed`.
 */
export async function applyPlan(
  context: CallContext<Services>,
  planId: string,
  askedOf: string | undefined,
): Promise<WorkflowRecord> {
  const { services, workspace } = context;
  const caller = requireApplier(context);
  if (isDryRunId(planId)) {
    throw new MeshError(
      'dry_run',
      'This plan was a dry run, which is shown and not kept: plan the same change again without dry_run, and apply that plan.',
    );
  }
  const plan = await services.store.get(workspace, { kind: 'Plan', name: planId });
  if (!plan) {
    throw new MeshError(
      'not_found',
      `There is no plan ${JSON.stringify(planId.slice(0, 80))} that you can apply here: plan the change again.`,
    );
  }
  requireUsable(plan, caller, services.clock.now());
  const approvalAskedOf = askedOf === undefined ? undefined : await requireApprover(context, askedOf);
  const assessment = await assessAgain(context, caller, plan.spec);
  if (assessment.beyond?.delegated && caller.kind === 'agent') throw beyondDelegation(assessment.beyond);
  requireAssertions(assessment.broken);
  const overridden = requireVerified(assessment, caller, workspace);
  const { settings } = (await workspaceById(services, workspace)).spec;
  const spec: WorkflowSpec = {
    ...specOf(assessment, plan.spec, caller, services.clock.now()),
    planId: plan.name,
    ...(approvalAskedOf !== undefined && { approvalAskedOf }),
    autoApprove: assessment.isAuto,
    overridden,
  };
  const id = newId('wf');
  const submit = async ({ autoApprove, ...rest }: WorkflowSpec, readSet?: ReadSet): Promise<boolean> => {
    try {
      await services.store.commit(
        workspace,
        [
          { op: 'update', record: planDraft(plan.name, plan.spec, { workflowId: id }), revision: plan.revision },
          {
            op: 'create',
            record: workflowDraft(id, { ...rest, autoApprove }, { state: autoApprove ? 'approved' : 'pending' }),
          },
        ],
        commitContext(context, `asked for: ${plan.spec.summary}`, readSet && { readSet }),
      );
      return autoApprove;
    } catch (error) {
      if (error instanceof StoreError && error.code === 'conflict') throw used(plan.name);
      throw error;
    }
  };
  const auto = await (assessment.isAuto && assessment.effect.closed_pairs > 0
    ? serialized(services.store, workspace, submitClosing)
    : submit(spec));

  /** Two closings at the same moment count for each other: the second sees the first. */
  async function submitClosing(): Promise<boolean> {
    const { items, revision } = await services.store.list(workspace, 'Workflow');
    const earlier = autoExecuted(items, spec, services.clock.now());
    // Closings executed before the plan was assessed are missing from its pairs.
    const { readSet, pairs } = assessment;
    const past = earlier.filter(({ status, revision: at }) => status.state === 'executed' && at <= readSet.revision);
    const since = { ...pairs, pairsBefore: pairs.pairsBefore + closedBy(past) };
    const { level: riskLevel, reasons: riskReasons } = withEarlierClosings(assessment.risk, since, closedBy(earlier));
    const autoApprove = isAtMost(riskLevel, settings.autoApprove?.maxRisk ?? 'low');
    return submit({ ...spec, riskLevel, riskReasons, autoApprove }, { groups: ['Workflow'], revision });
  }
  return auto ? executeOrLater(services, workspace, id, context.requestId) : findWorkflow(services, workspace, id);
}

/**
 * Returns the workflows without a reviewer, of the same requester or of another for whom the same person answers, that closed
 * something lately or will.
 */
function autoExecuted(workflows: readonly WorkflowRecord[], asked: WorkflowSpec, now: number): WorkflowRecord[] {
  const persons = new Set(asked.persons);
  return workflows.filter(({ spec, status, createdAt }) => {
    const closesAt = Math.max(createdAt, spec.begins ?? 0);
    if (!spec.autoApprove || status.state === 'failed' || closesAt <= now - CLOSINGS_COUNT_MS) return false;
    return spec.requesterId === asked.requesterId || (spec.persons ?? []).some((person) => persons.has(person));
  });
}

function closedBy(workflows: readonly WorkflowRecord[]): number {
  return workflows.reduce((sum, { spec }) => sum + spec.effect.closed_pairs, 0);
}

type PlanRequestFields = Omit<PlanSpec, 'digest' | 'baseRevision' | 'expiresAt'>;

/** Returns the request of a workflow for a plan or a direct write. */
export function specOf(
  assessment: Assessed,
  {
    summary,
    intent,
    changes,
    expectations,
    records,
    expectedBy,
    callerExpectations,
    orders,
    edits,
    hold,
    intended,
    plannedBy = 'caller',
    askedBy,
    notes,
    questions,
    words = '',
    requestedBy,
    requesterId,
    requesterToken,
    requesterPeer,
    person,
  }: PlanRequestFields,
  applier: Caller,
  now: number,
): WorkflowSpec {
  const { readBy, sentence, diffMarkdown } = assessment;
  const applierToken = apiTokenOf(applier);
  return {
    summary,
    intent,
    changes,
    expectations,
    records,
    ...(expectedBy && { expectedBy }),
    ...(callerExpectations && { callerExpectations }),
    ...(orders && { orders }),
    ...(edits && { edits }),
    ...(hold && { hold }),
    ...(intended && { intended }),
    plannedBy,
    readBy,
    ...(askedBy && { askedBy }),
    sentence,
    ...(notes && { notes }),
    ...(questions && { questions }),
    ...assessmentFields(assessment),
    diffMarkdown: diffMarkdown + words,
    requestedBy,
    requesterId,
    ...(requesterToken !== undefined && { requesterToken }),
    ...(requesterPeer !== undefined && { requesterPeer }),
    appliedBy: applier.subject,
    applierId: applier.id,
    ...(applierToken !== undefined && { applierToken }),
    ...personsOf(person, requesterId, applier),
    autoApprove: false,
    overridden: false,
    expiresAt: deadlineOf(now + WORKFLOW_TTL_MS, assessment),
  };
}

/** Nobody counts as another person where one of them is not known. */
function personsOf(asker: string | undefined, requesterId: string, applier: Caller): Pick<WorkflowSpec, 'persons'> {
  const known = asker ?? (isAgentId(requesterId) ? undefined : requesterId);
  const other = applier.person ?? (applier.kind === 'agent' ? undefined : applier.id);
  return known === undefined || other === undefined ? {} : { persons: [...new Set([known, other])] };
}

function requireApplier({ caller, face }: CallContext<Services>): Caller {
  if (caller.kind !== 'user' && caller.kind !== 'agent' && caller.kind !== 'local') {
    throw new MeshError('forbidden', `A ${caller.kind} on ${face} cannot apply plans.`);
  }
  return caller;
}

function requireUsable({ name, spec, status }: PlanRecord, caller: Caller, now: number): void {
  if (caller.kind !== 'user' && caller.id !== spec.requesterId) {
    throw new MeshError(
      'forbidden',
      'A plan is applied by who asked for it, or by a person: plan the change yourself.',
    );
  }
  if (status.workflowId !== undefined) throw used(name, status.workflowId);
  if (hasEnded(spec, now))
    throw new MeshError('plan_expired', begunText(spec, now) ?? 'The plan has expired: plan the change again.');
}

function used(planId: string, workflowId?: string): MeshError {
  const which = workflowId === undefined ? '' : ` by workflow ${workflowId}`;
  return new MeshError('conflict', `The plan ${planId} has been used already${which}: plan the change again.`, {
    ...(workflowId !== undefined && { workflow_id: workflowId }),
  });
}

async function assessAgain(context: CallContext<Services>, caller: Caller, spec: PlanSpec): Promise<Assessed> {
  const assessment = await assessOrStale(context, caller, spec);
  if (assessment.digest !== spec.digest) throw stale();
  if (assessment.shown.length === 0) {
    throw new MeshError('conflict', 'The plan changes nothing: there is nothing to apply.');
  }
  return assessment;
}

/** Changes that could be planned and cannot be made any more are stale too. */
async function assessOrStale(
  { services, workspace, requestId }: CallContext<Services>,
  caller: Caller,
  spec: PlanSpec,
): Promise<Assessed> {
  try {
    const proposal = { ...spec, ...storedReading(spec) };
    const requester = { id: spec.requesterId, peer: spec.requesterPeer };
    const asker = { workspace, principal: principalOf(caller), requestId, isQuestion: true };
    return await services.computed(assessProposal, { proposal, requester }, asker);
  } catch (error) {
    if (error instanceof MeshError && error.code !== 'unavailable') throw stale(error);
    throw error;
  }
}

function stale(cause?: MeshError): MeshError {
  const why = cause ? ` (${cause.message})` : '';
  return new MeshError(
    'plan_stale',
    `The network has changed since, and the plan would not do now what it showed${why}: plan the change again.`,
  );
}

/**
 * @returns whether a plan that does not do what was asked is applied all the same, by someone who may. A plan of
 * which nothing is stated goes to a person, who judges its effect (docs/decisions/0167-read-by-and-check.md).
 */
function requireVerified({ objections, unmet }: Assessed, caller: Caller, workspace: string): boolean {
  if (objections.length === 0) return false;
  if (caller.scopesIn(workspace).has('intents:override')) return true;
  throw new MeshError(
    'forbidden',
    `The plan is not verified: ${objections.join('; ')}. Plan again, or ask someone with intents:override.`,
    { unmet, objections, scope: 'intents:override' },
  );
}
