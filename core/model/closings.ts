import type { PolicySpec, Rule } from './policy.ts';
import { DIRECTIONS, isolates, replacingRules, rulesOf } from './policy-match.ts';

/** Returns what a policy closes, without what it opens: an ALLOW without its rules isolates the same peers. */
export function closingsOf(spec: PolicySpec): PolicySpec {
  return spec.action === 'DENY' ? spec : replacingRules(spec, () => []);
}

/** A direction in which a policy closes something. */
export interface Closing {
  readonly direction: Rule['direction'];
  /** Rules of a DENY; undefined where the policy isolates. */
  readonly denied?: readonly Rule[];
}

/** Returns the directions in which a policy closes something. */
export function closingDirections(spec: PolicySpec): Closing[] {
  return DIRECTIONS.flatMap((direction): Closing[] => {
    const rules = rulesOf(spec, direction);
    if (rules === undefined) return [];
    return [isolates(spec, direction) ? { direction } : { direction, denied: rules }];
  });
}
