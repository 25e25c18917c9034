import type { Assessed } from '../intent/plan/assessed.ts';
import type { WorkflowSpec } from './workflow-record.ts';

/** What of a workflow says what its changes do to the network that they were drawn on. */
export type Drawn = Pick<
  WorkflowSpec,
  | 'shown'
  | 'effect'
  | 'digest'
  | 'diffMarkdown'
  | 'check'
  | 'expectationsHold'
  | 'objections'
  | 'warnings'
  | 'riskLevel'
  | 'riskReasons'
  | 'failsControls'
  | 'baseRevision'
>;

export function drawnOf(assessment: Omit<Assessed, 'pairs'>): Drawn {
  const { shown, effect, digest, warnings, risk, basis, diffMarkdown, check, expectationsHold, objections } =
    assessment;
  return {
    shown,
    effect,
    digest,
    diffMarkdown,
    check,
    ...(expectationsHold !== undefined && { expectationsHold }),
    objections,
    warnings,
    riskLevel: risk.level,
    riskReasons: risk.reasons,
    ...(assessment.failsControls.length > 0 && { failsControls: assessment.failsControls }),
    baseRevision: basis.revision,
  };
}

/** Why an agent's change waits for a person, among what makes it risky. */
export function beyondReasons({ beyond }: Pick<Assessed, 'beyond'>): string[] {
  return (beyond?.reasons ?? []).map((why) => `needs a person: ${why}`);
}
