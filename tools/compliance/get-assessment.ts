import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { getAssessment as assessmentOf } from '../../core/compliance/assessments.ts';
import { defineOperation } from '../define.ts';
import { assessmentSchema } from './assessment-fields.ts';

export const getAssessment = defineOperation({
  name: 'get_assessment',
  title: 'Show an assessment',
  description: 'A stored assessment as it was made.',
  input: z.strictObject({ id: lineOfText(TEXT_LIMITS.id).describe('evidence_id') }),
  output: assessmentSchema,
  access: 'compliance:assess',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  problems: ['not_found'],
  http: { method: 'get', path: '/api/v1/ai/compliance/assessments/:id' },
  run: ({ id }, { services, workspace }) => assessmentOf(services, workspace, id),
});
