import { z } from 'zod';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { CONTROL_STATES } from '../../core/compliance/control-result.ts';
import { FRAMEWORKS } from '../../core/compliance/frameworks.ts';
import { proposedChangeSchema } from '../../core/intent/plan/change-input.ts';

export const frameworkText = lineOfText(TEXT_LIMITS.name).min(1).describe(FRAMEWORKS.join(', '));

export const controlStatus = z.enum(CONTROL_STATES);

const rowFields = {
  framework: z.string(),
  canonical_framework: z.enum(FRAMEWORKS),
  generated_at: z.string(),
  generated_by: z.string(),
  period_start: z.string(),
  period_end: z.string(),
  score: z.int(),
  status: z.enum(['pass', 'fail', 'partial']),
  summary: z.string(),
  evidence_id: z.string(),
};

export const assessmentRow = z.strictObject(rowFields);

const flipCause = z.strictObject({
  at: z.string(),
  revision: z.int().nullable(),
  actor: z.string().nullable(),
  reason: z.string().nullable(),
  workflow_id: z.string().nullable(),
  reviewed_by: z.string().nullable(),
  direct: z.boolean(),
  resources: z.array(z.string()).readonly(),
});

/** The result of a control (docs/compliance.md#results). */
const control = z.strictObject({
  id: z.string(),
  title: z.string(),
  status: controlStatus,
  evidence: z.string(),
  remediation: z.string(),
  check: z.string(),
  strength: z.enum(['strong', 'partial']),
  caveat: z.string(),
  references: z.array(z.string()).readonly(),
  passing_share: z.number().nullable(),
  passing_of: z.enum(['time', 'changes', 'days', 'now']),
  failing: z
    .array(
      z.strictObject({
        from: z.string(),
        to: z.string(),
        facts: z.string(),
        begun_by: flipCause.nullable(),
        ended_by: flipCause.nullable(),
      }),
    )
    .readonly(),
  omitted_failing: z.int(),
  changes: z.array(proposedChangeSchema).readonly(),
  effect: z
    .strictObject({
      summary: z.string(),
      opened_pairs: z.int(),
      closed_pairs: z.int(),
      holds_after: z.boolean(),
    })
    .nullable(),
});

export const assessmentSchema = z.strictObject({
  ...rowFields,
  controls: z.array(control).readonly(),
  scope: z.string(),
  gaps: z.array(z.string()).readonly(),
  states_evaluated: z.int(),
});

/** Returns an assessment for the text of an MCP answer: for each control its result and remedy, without its catalog entry. */
export function briefAssessment({ controls, ...assessment }: z.output<typeof assessmentSchema>) {
  return {
    ...assessment,
    controls: controls.map(({ id, status, evidence, remediation, changes }) => {
      const remedy = { ...(remediation !== '' && { remediation }), ...(changes.length > 0 && { changes }) };
      return { id, status, evidence, ...remedy };
    }),
  };
}
