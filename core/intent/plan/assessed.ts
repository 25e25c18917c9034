import type { ReadSet } from '../../base/ports.ts';
import type { Computation } from '../../compute/computation.ts';
import { type EffectView, effectView } from '../../effect/effect-view.ts';
import { type EffectBlock, effectBlocks } from '../../effect/rows.ts';
import { readSetOf } from '../../state/read-set.ts';
import type { Requester } from '../verify/findings.ts';
import type { ClosedPairs } from '../verify/risk.ts';
import { assess } from './assess.ts';
import type { Assessment, Proposal } from './assessment.ts';
import type { PlanView } from './diff-markdown.ts';
import type { PlanServices } from './services.ts';

/** The parts of an {@link Assessment} that are stored, shown and decided on, as plain data. */
export interface Assessed
  extends Omit<Assessment, 'state' | 'effect' | 'view' | 'unmetRecords' | 'beyond'>,
    Pick<PlanView, 'readBy' | 'sentence'> {
  readonly readSet: ReadSet;
  readonly effect: EffectView;
  readonly pairs: ClosedPairs;
  readonly beyond?: Assessment['beyond'];
  /** The effect whole, where it was asked for. */
  readonly blocks?: { readonly blocks: readonly EffectBlock[]; readonly omitted: number };
}

/** Judges again what was proposed earlier, or is to be put before a person. */
export const assessProposal: Computation<
  Pick<PlanServices, 'store' | 'states' | 'clock' | 'settings'>,
  { readonly proposal: Proposal; readonly requester: Requester | undefined; readonly isWhole?: boolean },
  Assessed
> = {
  name: 'assess_proposal',
  async run(services, workspace, { proposal, requester, isWhole = false }) {
    const { state, effect, view, unmetRecords, ...rest } = await assess(services, workspace, proposal, requester);
    const { readBy, sentence } = view;
    return {
      ...rest,
      readBy,
      sentence,
      readSet: readSetOf(state),
      effect: effectView(effect),
      pairs: { lostPairs: effect.lostPairs, closedPairs: effect.closedPairs, pairsBefore: effect.pairsBefore },
      ...(isWhole && { blocks: effectBlocks(effect) }),
    };
  },
};
