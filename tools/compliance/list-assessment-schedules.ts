import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { listSchedules } from '../../core/compliance/schedules.ts';
import { defineOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';
import { scheduleSchema } from './schedule-fields.ts';

export const listAssessmentSchedules = defineOperation({
  name: 'list_assessment_schedules',
  title: 'List schedules of assessments',
  description: 'The schedules by which a workspace is assessed, at most one of each framework.',
  input: z.strictObject(pageQuery),
  output: z.strictObject({ items: z.array(scheduleSchema), next_cursor: z.string().optional() }),
  columns: { Framework: 'framework', Cadence: 'cadence', Days: 'days', Enabled: 'enabled', Next: 'next_at' },
  access: 'compliance:assess',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  problems: ['not_found'],
  http: { method: 'get', path: '/api/v1/ai/compliance/schedules' },
  async run(page, { services, workspace }) {
    const schedules = await listSchedules(services, workspace);
    return pageOf(
      schedules.map((schedule) => ({ name: schedule.framework, schedule })),
      page,
      ({ schedule }) => schedule,
    );
  },
});
