import type { Assessed } from '../intent/plan/assessed.ts';
import type { WorkflowSpec } from './workflow-record.ts';

/** The fields of a workflow that hold the effect of its changes on one state of the network. */
type AssessmentFields = Pick<
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
  | 'begins'
  | 'baseRevision'
>;

export function assessmentFields(assessment: Omit<Assessed, 'pairs'>): AssessmentFields {
  const { shown, effect, digest, warnings, risk, readSet, diffMarkdown, check, expectationsHold, objections } =
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
    ...(assessment.begins !== undefined && { begins: assessment.begins }),
    baseRevision: readSet.revision,
  };
}

/** Returns the reasons for which an agent's change needs a person, as reasons of its risk. */
export function beyondReasons({ beyond }: Pick<Assessed, 'beyond'>): string[] {
  return (beyond?.reasons ?? []).map((why) => `needs a person: ${why}`);
}
