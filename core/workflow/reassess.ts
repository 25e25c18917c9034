import { requireAssertions } from '../assertions/guard.ts';
import { beyondDelegation } from '../authority/judge.ts';
import { principalOf } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { storedReading } from '../intent/plan/check.ts';
import { type RefreshedPreview, refreshPreview } from '../intent/plan/refreshed-preview.ts';
import type { WorkflowRecord } from '../model/workflow-records.ts';
import { assessmentFields, beyondReasons } from './assessment-fields.ts';
import type { Services } from './services.ts';
import type { WorkflowSpec } from './workflow-record.ts';

type ReassessCall = CallContext<Pick<Services, 'computed'>>;

/**
 * Returns the effect that the changes of a workflow would have on the network of now. Writes nothing.
 *
 * @param skip kinds of each side that an earlier answer had
 * @throws MeshError as `planChanges`, where they cannot be made any more
 */
export async function reassess(
  context: ReassessCall,
  { spec, workspace }: WorkflowRecord,
  skip = 0,
): Promise<RefreshedPreview> {
  const { services, caller, requestId } = context;
  return services.computed(
    refreshPreview,
    {
      proposal: { ...spec, ...storedReading(spec) },
      requester: { id: spec.requesterId, peer: spec.requesterPeer },
      skip,
    },
    { workspace, principal: principalOf(caller), requestId, isQuestion: true },
  );
}

/** Returns why changes that can be assessed cannot be approved; undefined where they can. */
export function whyNotApproved(
  { spec }: Pick<WorkflowRecord, 'spec'>,
  { broken, beyond, objections }: RefreshedPreview,
): MeshError | undefined {
  try {
    requireAssertions(broken);
  } catch (error) {
    if (error instanceof MeshError) return error;
    throw error;
  }
  if (beyond?.delegated) return beyondDelegation(beyond);
  return mismatch(spec, { objections });
}

/** @throws MeshError `plan_stale` where anything speaks against the plan on the network of now */
export function requireMatching(spec: WorkflowSpec, assessment: Pick<RefreshedPreview, 'objections'>): void {
  const error = mismatch(spec, assessment);
  if (error) throw error;
}

/** A direct write states no expectation, and whoever overrides a plan saw what speaks against it. */
function mismatch(
  { planId, overridden }: WorkflowSpec,
  { objections }: Pick<RefreshedPreview, 'objections'>,
): MeshError | undefined {
  if (planId === undefined || overridden || objections.length === 0) return undefined;
  return new MeshError('plan_stale', `The change would not do what was asked any more: ${objections.join('; ')}.`);
}

/**
 * Returns a workflow with the assessment that its approver has seen: they approve its effect of now, and no other.
 *
 * @param digest of the assessment that they have seen
 * @throws MeshError `plan_stale` where the network has changed since they looked, or the change is not what was asked any more
 */
export async function asReviewed(
  context: ReassessCall,
  workflow: WorkflowRecord,
  digest: string,
): Promise<WorkflowRecord> {
  const preview = await reassess(context, workflow);
  if (preview.digest !== digest) {
    const message = 'The network has changed since you looked, and the change would do something else now: look again.';
    throw new MeshError('plan_stale', message);
  }
  const reason = whyNotApproved(workflow, preview);
  if (reason) throw reason;
  return digest === workflow.spec.digest ? workflow : withAssessment(workflow, preview);
}

/** Returns the workflow with its effect of now in place of that at its submission. */
export function withAssessment(workflow: WorkflowRecord, preview: RefreshedPreview): WorkflowRecord {
  const { failsControls: _controls, expectationsHold: _held, ...spec } = workflow.spec;
  const fields = assessmentFields(preview);
  // A direct write says why beside what it does.
  const summary = spec.planId === undefined ? `${preview.title} (${spec.intent})` : preview.title;
  const riskReasons = [...fields.riskReasons, ...beyondReasons(preview)];
  return { ...workflow, spec: { ...spec, ...fields, summary, riskReasons } };
}
