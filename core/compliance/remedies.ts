import { MeshError } from '../base/errors.ts';
import { type NetworkChange, planChanges } from '../changes/changes.ts';
import { effectOf } from '../effect/effect.ts';
import { effectTitle } from '../effect/title.ts';
import type { NetworkState } from '../state/state.ts';
import type { StateCheck } from './checks/check.ts';
import type { View } from './view.ts';

/** The action that mends a failing control, and the effect that its changes would have now. */
export interface Remediation {
  readonly text: string;
  /** As plan_network_change takes them. */
  readonly changes: readonly NetworkChange[];
  readonly effect: RemedyEffect | null;
}

export interface RemedyEffect {
  readonly summary: string;
  readonly opened_pairs: number;
  readonly closed_pairs: number;
  /** True if the check holds once the changes are made. */
  readonly holds_after: boolean;
}

export const NO_REMEDY: Remediation = { text: '', changes: [], effect: null };

/** Returns the remedy for a state check. It names changes only where the check fails now, whatever the period was. */
export function remediationOf(
  check: StateCheck,
  now: View,
  viewAt: (state: NetworkState, at: number) => View,
): Remediation {
  if (check.judge(now).holds !== false) {
    const text =
      'Nothing is to be changed now: it does not fail any more. An auditor is shown who ended each failing interval, and why.';
    return { ...NO_REMEDY, text };
  }
  const { text, changes } = check.remedy(now);
  if (changes.length === 0) return { ...NO_REMEDY, text };
  try {
    const { after } = planChanges(now.state, changes, now.at);
    const then = viewAt(after, now.at);
    const effect = effectOf(now.reach(), then.reach());
    const view = {
      summary: effectTitle(effect, after),
      opened_pairs: effect.openedPairs,
      closed_pairs: effect.closedPairs,
      holds_after: check.judge(then).holds === true,
    };
    return { text, changes, effect: view };
  } catch (error) {
    // Changes that cannot be made are no remedy; what to do stands in the text.
    if (error instanceof MeshError) return { ...NO_REMEDY, text };
    throw error;
  }
}
