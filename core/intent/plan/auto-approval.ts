import type { RequesterKind, WorkspaceSettings } from '../../model/workspaces.ts';
import { isAtMost } from '../verify/risk.ts';
import type { RiskLevel } from '../verify/risk-table.ts';
import type { Check, ReadBy } from './check.ts';

/** The facts of a plan by which it is carried out without a person, or is not. */
export interface AutoApprovalFacts {
  readonly check: Check;
  readonly readBy: ReadBy;
  /** Undefined where an earlier version did not keep it. */
  readonly askedBy?: RequesterKind | undefined;
  readonly riskLevel: RiskLevel;
  readonly objections: readonly string[];
  /** True if it opens or closes connections that the effect does not show. */
  readonly isUnseen: boolean;
  /** True if the plan has open questions. */
  readonly isAsked: boolean;
  /** True if controls of frameworks fail after it that did not fail before. */
  readonly failsControls: boolean;
  /** True if nodes would route a public block. */
  readonly isPublic: boolean;
}

/**
 * Returns true if a workspace carries a plan out without a person, by its effect, its risk and who asked for it. Without
 * `autoApprove.from` the plan has to match a sentence that the built-in reader read. A model's reading always waits.
 */
export function isAutoApproved(facts: AutoApprovalFacts, { autoApprove }: WorkspaceSettings): boolean {
  if (!autoApprove || facts.readBy === 'model') return false;
  if (facts.objections.length > 0 || facts.isUnseen || facts.isAsked || facts.failsControls || facts.isPublic)
    return false;
  if (!isAtMost(facts.riskLevel, autoApprove.maxRisk)) return false;
  const { from } = autoApprove;
  if (!from) return facts.check === 'matches';
  return facts.check !== 'differs' && facts.askedBy !== undefined && from.includes(facts.askedBy);
}
