import { requireAssertions } from '../assertions/guard.ts';
import { beyondDelegation } from '../authority/judge.ts';
import { principalOf } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { storedReading } from '../intent/plan/check.ts';
import { type Redrawn, redrawProposal } from '../intent/plan/redrawn.ts';
import type { WorkflowRecord } from '../model/asked.ts';
import { beyondReasons, drawnOf } from './drawn.ts';
import type { Services } from './services.ts';

type RedrawCall = CallContext<Pick<Services, 'computed'>>;

/**
 * What the changes of a workflow would do to the network as it is now. Nothing is written.
 *
 * @param skip kinds of each side that were told before
 * @throws MeshError as `planChanges`, where they cannot be made any more
 */
export async function redraw(context: RedrawCall, { spec, workspace }: WorkflowRecord, skip = 0): Promise<Redrawn> {
  const { services, caller, requestId } = context;
  if (!caller) throw new MeshError('unauthenticated', 'Only a known caller may ask what a change would do.');
  return services.computed(
    redrawProposal,
    {
      proposal: { ...spec, ...storedReading(spec) },
      requester: { id: spec.requesterId, peer: spec.requesterPeer },
      skip,
    },
    { workspace, principal: principalOf(caller), requestId, isQuestion: true },
  );
}

/** Why changes could be drawn, and cannot be approved so; undefined where they can. */
export function whyNotApproved(
  { spec }: Pick<WorkflowRecord, 'spec'>,
  { broken, beyond, objections }: Redrawn,
): MeshError | undefined {
  try {
    requireAssertions(broken);
  } catch (error) {
    if (error instanceof MeshError) return error;
    throw error;
  }
  if (beyond?.delegated) return beyondDelegation(beyond);
  if (spec.planId === undefined || spec.overridden || objections.length === 0) return undefined;
  return new MeshError('plan_stale', `The change would not do what was asked any more: ${objections.join('; ')}.`);
}

/**
 * A workflow as who approves it has seen it drawn: what they approve is what it does now, and no other.
 *
 * @param digest of the drawing that they have seen
 * @throws MeshError `plan_stale` where the network has changed since they looked, or the change is not what was asked any more
 */
export async function asSeen(context: RedrawCall, workflow: WorkflowRecord, digest: string): Promise<WorkflowRecord> {
  const redrawn = await redraw(context, workflow);
  if (redrawn.digest !== digest) {
    const message = 'The network has changed since you looked, and the change would do something else now: look again.';
    throw new MeshError('plan_stale', message);
  }
  const reason = whyNotApproved(workflow, redrawn);
  if (reason) throw reason;
  return digest === workflow.spec.digest ? workflow : withDrawing(workflow, redrawn);
}

/** The workflow with what its changes would do now in the place of what they did when it was put forward. */
export function withDrawing(workflow: WorkflowRecord, redrawn: Redrawn): WorkflowRecord {
  const { failsControls: _controls, expectationsHold: _held, ...spec } = workflow.spec;
  const drawn = drawnOf(redrawn);
  // A direct write says why beside what it does.
  const summary = spec.planId === undefined ? `${redrawn.title} (${spec.intent})` : redrawn.title;
  const riskReasons = [...drawn.riskReasons, ...beyondReasons(redrawn)];
  return { ...workflow, spec: { ...spec, ...drawn, summary, riskReasons } };
}
