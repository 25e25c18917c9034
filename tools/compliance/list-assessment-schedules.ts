import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { listSchedules } from '../../core/compliance/schedules.ts';
import { defineOperation } from '../define.ts';
import { scheduleSchema } from './schedule-fields.ts';

export const listAssessmentSchedules = defineOperation({
  name: 'list_assessment_schedules',
  title: 'List schedules of assessments',
  description: 'The schedules by which a workspace is assessed, at most one of each framework.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(scheduleSchema) }),
  columns: { Framework: 'framework', Cadence: 'cadence', Days: 'days', Enabled: 'enabled', Next: 'next_at' },
  access: 'compliance:assess',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  problems: ['not_found'],
  http: { method: 'get', path: '/api/v1/ai/compliance/schedules' },
  run: async (_input, { services, workspace }) => ({ items: await listSchedules(services, workspace) }),
});
