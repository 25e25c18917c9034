import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { deleteSchedule } from '../../core/compliance/schedules.ts';
import { defineOperation } from '../define.ts';
import { frameworkText } from './assessment-fields.ts';

export const deleteAssessmentSchedule = defineOperation({
  name: 'delete_assessment_schedule',
  title: 'Delete a schedule of assessments',
  description: 'Ends the schedule of a framework; what it assessed is kept.',
  input: z.strictObject({ framework: frameworkText }),
  output: z.strictObject({}),
  access: 'members:write',
  workspace: 'scoped',
  edition: 'pro',
  effects: DELETE,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/ai/compliance/schedules/:framework' },
  async run({ framework }, context) {
    await deleteSchedule(framework, context);
    return {};
  },
});
