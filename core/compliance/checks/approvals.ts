import { isOfAgent } from '../../model/presets.ts';
import { counted, holdsUnless, named, nothing } from '../check-result.ts';
import type { View } from '../view.ts';
import type { StateCheck } from './check.ts';

/** Checks that every policy in force is as a reviewed change wrote it. */
export const runningAsApproved: StateCheck = {
  on: 'state',
  atEachMoment: true,
  judge(view) {
    const policies = [...view.state.policies.values()].filter((policy) => !isOfAgent(policy));
    if (policies.length === 0) return nothing('There are no policies.');
    const { bare = [], unknown = [] } = Object.groupBy(policies, (policy) => reviewStatus(view, policy.revision));
    if (bare.length === 0 && unknown.length > 0)
      return nothing(`Of ${named(unknown)} it is no longer kept who reviewed them.`);
    return holdsUnless(
      bare.length > 0 ? [`${named(bare)} ${bare.length === 1 ? 'is' : 'are'} in force as nobody reviewed`] : [],
      `Of ${counted(policies.length, 'policy', 'policies')} each is in force as it was reviewed.`,
    );
  },
  remedy: () => ({
    text: 'A network operator writes each policy that is named again by a plan (plan_network_change), and another person approves it.',
    changes: [],
  }),
};

function reviewStatus({ reviewOf }: View, revision: number): 'bare' | 'reviewed' | 'unknown' {
  const reviewer = reviewOf(revision);
  if (reviewer === undefined) return 'unknown';
  return reviewer === '' ? 'bare' : 'reviewed';
}
