import { requireAssertions } from '../assertions/guard.ts';
import { principalOf } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import type { Op } from '../base/ports.ts';
import type { NetworkChange } from '../changes/changes.ts';
import { renumbers } from '../changes/renumber.ts';
import { routesPublicBlock } from '../effect/routes.ts';
import { type Assessed, assessProposal } from '../intent/plan/assessed.ts';
import { writerOf } from '../intent/plan/check.ts';
import { requesterOf } from '../intent/plan/plan.ts';
import { ADMINISTRATOR_ROUTES, mayRoutePublic, RENUMBERING_ALONE, RENUMBERING_WAITS } from './approvers.ts';
import type { Services } from './services.ts';

export interface Preview {
  readonly assessment: Assessed;
  /** Reasons for which a person would have to approve; none where the changes would be made at once. */
  readonly waitsFor: readonly string[];
}

/**
 * Returns the effect of submitted changes, or refuses them as `submitChanges` would. Writes nothing.
 *
 * @param others writes that would be committed with the changes
 * @throws MeshError as `submitChanges`
 */
export async function previewChanges(
  context: CallContext<Pick<Services, 'store' | 'states' | 'computed'>>,
  changes: readonly NetworkChange[],
  sentence: string,
  others: readonly Op[],
): Promise<Preview> {
  const { services, workspace, caller, requestId } = context;
  const readBy = writerOf(context);
  const proposal = { changes, expectations: [], records: [], plannedBy: 'caller', readBy, sentence } as const;
  const assessment = await services.computed(
    assessProposal,
    { proposal, requester: await requesterOf(context), isWhole: true },
    { workspace, principal: principalOf(caller), requestId, isQuestion: true },
  );
  const reasons = (await services.store.trial?.(workspace, [...assessment.ops, ...others], requestId)) ?? [];
  requireAssertions(assessment.broken);
  const isPublic = routesPublicBlock(assessment.effect) && !mayRoutePublic(context);
  const isRenumbering = renumbers(assessment.ops, await services.states.current(workspace));
  if (isRenumbering && others.length > 0) throw new MeshError('conflict', RENUMBERING_ALONE);
  const waitsFor = [
    ...(isPublic ? [ADMINISTRATOR_ROUTES] : []),
    ...(isRenumbering ? [RENUMBERING_WAITS] : []),
    ...reasons,
  ];
  return { assessment, waitsFor };
}
