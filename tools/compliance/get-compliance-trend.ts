import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { trendOf } from '../../core/compliance/trend.ts';
import { FRAMEWORKS } from '../../core/model/frameworks.ts';
import { defineOperation } from '../define.ts';
import { frameworkText } from './assessment-fields.ts';

const point = z.strictObject({
  generated_at: z.string(),
  period_start: z.string(),
  period_end: z.string(),
  score: z.int(),
  counts: z.strictObject({ pass: z.int(), fail: z.int(), insufficient_evidence: z.int() }),
  evidence_id: z.string(),
});

export const getComplianceTrend = defineOperation({
  name: 'get_compliance_trend',
  title: 'Show how assessments went',
  description: 'Score and results of the stored assessments of a framework, oldest first: for a chart.',
  input: z.strictObject({ framework: frameworkText }),
  output: z.strictObject({
    framework: z.enum(FRAMEWORKS),
    points: z.array(point),
    more: z.boolean().describe('Whether there are older ones'),
  }),
  access: 'compliance:assess',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/ai/compliance/assessments/trend' },
  run: ({ framework }, { services, workspace }) => trendOf(services, workspace, framework),
});
