import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { setSchedule } from '../../core/compliance/schedules.ts';
import { scheduleSettings } from '../../core/model/workspaces.ts';
import { defineOperation } from '../define.ts';
import { frameworkText } from './assessment-fields.ts';
import { scheduleSchema } from './schedule-fields.ts';

const { cadence, days, enabled } = scheduleSettings.shape;

export const setAssessmentSchedule = defineOperation({
  name: 'set_assessment_schedule',
  title: 'Set a schedule of assessments',
  description: 'Has a workspace assessed by a framework at a cadence. The period that ended last is assessed at once.',
  input: z.strictObject({ framework: frameworkText, cadence, days, enabled: enabled.default(true) }),
  output: scheduleSchema,
  access: 'members:write',
  workspace: 'scoped',
  edition: 'pro',
  effects: UPDATE,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'put', path: '/api/v1/ai/compliance/schedules/:framework' },
  run: ({ framework, ...schedule }, context) => setSchedule(framework, schedule, context, context.services.clock.now()),
});
