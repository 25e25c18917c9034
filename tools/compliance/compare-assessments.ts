import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { compareAssessments as compare } from '../../core/compliance/assessments.ts';
import { defineOperation } from '../define.ts';
import { assessmentRow, controlStatus } from './assessment-fields.ts';

const id = lineOfText(TEXT_LIMITS.id).describe('evidence_id');

export const compareAssessments = defineOperation({
  name: 'compare_assessments',
  title: 'Compare two assessments',
  description: 'Which controls of a framework another assessment judges otherwise.',
  input: z.strictObject({ earlier: id, later: id }),
  output: z.strictObject({
    from: assessmentRow,
    to: assessmentRow,
    score_change: z.int(),
    controls: z.array(z.strictObject({ id: z.string(), from: controlStatus.nullable(), to: controlStatus.nullable() })),
    unchanged_count: z.int(),
  }),
  access: 'compliance:assess',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  problems: ['invalid_input', 'not_found'],
  http: { method: 'get', path: '/api/v1/ai/compliance/assessments/compare' },
  run: ({ earlier, later }, { services, workspace }) => compare(services, workspace, earlier, later),
});
