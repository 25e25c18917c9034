import { requireAssertions } from '../assertions/guard.ts';
import { beyondDelegation } from '../authority/judge.ts';
import { principalOf } from '../base/caller.ts';
import type { CallContext } from '../base/operation.ts';
import type { NetworkChange } from '../changes/changes.ts';
import { routesPublicBlock } from '../effect/routes.ts';
import { type Assessed, assessProposal } from '../intent/plan/assessed.ts';
import { writerOf } from '../intent/plan/check.ts';
import { requesterOf } from '../intent/plan/plan.ts';
import { ADMINISTRATOR_ROUTES, mayRoutePublic } from './approvers.ts';
import type { Services } from './services.ts';
import { needsApproval } from './submit.ts';

export interface Preview {
  readonly assessment: Assessed;
  /** Reasons for which a person would have to approve; none where the changes would be made at once. */
  readonly waitsFor: readonly string[];
}

const ALWAYS_ASKED = 'the workspace has every change approved';

/**
 * Returns the effect of submitted changes, or refuses them as `submitChanges` would. Writes nothing.
 *
 * @throws MeshError as `submitChanges`
 */
export async function previewChanges(
  context: CallContext<Pick<Services, 'store' | 'states' | 'computed'>>,
  changes: readonly NetworkChange[],
  sentence: string,
): Promise<Preview> {
  const { services, workspace, caller, requestId } = context;
  const readBy = writerOf(context);
  const proposal = { changes, expectations: [], records: [], plannedBy: 'caller', readBy, sentence } as const;
  const assessment = await services.computed(
    assessProposal,
    { proposal, requester: await requesterOf(context), isWhole: true },
    { workspace, principal: principalOf(caller), requestId, isQuestion: true },
  );
  requireAssertions(assessment.broken);
  const { beyond } = assessment;
  if (beyond?.delegated) throw beyondDelegation(beyond);
  const isAsked = await needsApproval(context, assessment.ops);
  const isPublic = routesPublicBlock(assessment.effect) && !mayRoutePublic(context);
  const asked = [...(isAsked ? [ALWAYS_ASKED] : []), ...(isPublic ? [ADMINISTRATOR_ROUTES] : [])];
  return { assessment, waitsFor: [...asked, ...(beyond?.reasons ?? [])] };
}
