import { z } from 'zod';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { CONTROL_STATES } from '../../core/compliance/control-result.ts';
import { FRAMEWORKS } from '../../core/compliance/frameworks.ts';

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

/** As docs/compliance.md#results tells; here what a caller goes on with. */
const control = z.looseObject({
  id: z.string(),
  title: z.string(),
  status: controlStatus,
  evidence: z.string(),
  remediation: z.string(),
});

export const assessmentSchema = z.strictObject({
  ...rowFields,
  controls: z.array(control).readonly(),
  scope: z.string(),
  gaps: z.array(z.string()).readonly(),
  states_evaluated: z.int(),
});

/** What the text of an MCP answer shows of each control: the result and what to do, without what the catalogue says. */
export function briefAssessment({ controls, ...assessment }: z.output<typeof assessmentSchema>) {
  return {
    ...assessment,
    controls: controls.map(({ id, status, evidence, remediation, changes }) => {
      const isEmpty = !Array.isArray(changes) || changes.length === 0;
      return { id, status, evidence, ...(remediation !== '' && { remediation }), ...(!isEmpty && { changes }) };
    }),
  };
}
