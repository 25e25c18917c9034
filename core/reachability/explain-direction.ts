import { hasBit } from './bits.ts';
import type { Endpoint } from './endpoints.ts';
import { type Blocker, type Finding, resultOf, type Step } from './explanation.ts';
import type { Direction } from './model.ts';
import { NO_PORTS, type PortSetId } from './port-sets.ts';
import type { ActivePolicy } from './program.ts';
import type { Reachability } from './reachability.ts';
import { fixesOf, type MatchedRule, unionOf } from './refusal-fixes.ts';

/** Replays the rules of one row for one pair. */
export function explainDirection(
  reach: Reachability,
  direction: Direction,
  subject: Endpoint,
  other: Endpoint,
  scope: PortSetId,
): Finding {
  const { ports, table, policies, space } = reach.parts;
  const granted = ports.meet(table.row(direction, subject.classIndex)[other.classIndex] ?? NO_PORTS, scope);
  const selecting = table
    .selecting(subject.classIndex)
    .flatMap((index) => policies[index] ?? [])
    .filter(({ code }) => code[direction] !== undefined);
  const matched = (allow: boolean): MatchedRule[] =>
    selecting
      .filter(({ code }) => code.allow === allow)
      .flatMap((policy) =>
        (policy.code[direction] ?? [])
          .map((rule, index) => ({ policy, index, rule, covers: ports.meet(rule.ports, scope) }))
          .filter(({ rule }) => hasBit(space.othersOf(rule), other.classIndex)),
      );
  const allows = matched(true);
  const denies = matched(false).filter(({ covers }) => covers !== NO_PORTS);
  // A policy that denies is the reason before one that only isolates, and that before one that opens the peer to others.
  const openness = ({ code }: ActivePolicy) => (code.allow ? 1 + Number((code[direction] ?? []).length > 0) : 0);
  const isolators = selecting.filter(({ code }) => code.isolates[direction]).sort((a, b) => openness(a) - openness(b));
  const result = resultOf(granted, scope);
  const prefix = direction === 'egress' ? 'EGRESS' : 'INGRESS';
  const base = { stage: direction, direction } as const;
  const missing = ports.minus(scope, granted);

  const blockers: Blocker[] = denies.map(({ policy, index }) => ({
    ...base,
    reason_code: `${prefix}_DENIED_BY_RULE`,
    policy: policy.name,
    rule_index: index,
  }));
  const unallowed = ports.minus(missing, unionOf(reach, denies));
  if (result !== 'pass' && (unallowed !== NO_PORTS || denies.length === 0)) {
    blockers.push(...lackOf(base, prefix, allows, isolators));
  }
  const decider = deciderOf(granted, allows, reach);
  const step: Step = {
    ...base,
    result,
    subject: subject.name,
    ...(granted === NO_PORTS
      ? pick(blockers[0])
      : { reason_code: decider ? 'ALLOWED_BY_RULE' : 'ALLOWED_BY_DEFAULT', ...placeOfRule(decider) }),
  };
  return {
    step,
    blockers,
    fixes: result === 'pass' ? [] : fixesOf(reach, direction, { subject, other, scope, allows, denies, isolators }),
  };
}

function deciderOf(granted: PortSetId, allows: readonly MatchedRule[], reach: Reachability): MatchedRule | undefined {
  return allows.find(({ covers }) => reach.parts.ports.meet(covers, granted) !== NO_PORTS);
}

function lackOf(
  base: { readonly stage: Direction; readonly direction: Direction },
  prefix: 'EGRESS' | 'INGRESS',
  allows: readonly MatchedRule[],
  isolators: readonly ActivePolicy[],
): Blocker[] {
  if (allows.length > 0) {
    return allows.map((rule) => ({ ...base, reason_code: `${prefix}_PORT_MISMATCH`, ...placeOfRule(rule) }));
  }
  if (isolators.length === 0) return [{ ...base, reason_code: 'DENIED_BY_DEFAULT', policy: null, rule_index: null }];
  return isolators.map(({ name }) => ({ ...base, reason_code: `${prefix}_ISOLATED`, policy: name, rule_index: null }));
}

function placeOfRule(rule: MatchedRule | undefined): Pick<Step, 'policy' | 'rule_index'> {
  return { policy: rule?.policy.name ?? null, rule_index: rule?.index ?? null };
}

function pick(blocker: Blocker | undefined): Pick<Step, 'reason_code' | 'policy' | 'rule_index'> {
  return {
    reason_code: blocker?.reason_code ?? null,
    policy: blocker?.policy ?? null,
    rule_index: blocker?.rule_index ?? null,
  };
}
