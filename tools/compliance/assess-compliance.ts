import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { assessAndKeep } from '../../core/compliance/assessments.ts';
import { defineHeavyOperation } from '../define.ts';
import { instant } from '../snapshots/snapshot-fields.ts';
import { assessmentSchema, briefAssessment, frameworkText } from './assessment-fields.ts';

export const assessCompliance = defineHeavyOperation({
  name: 'assess_compliance',
  title: 'Assess compliance',
  description: 'How the network stood to the controls of a framework over a period, with evidence and what to do.',
  input: z.strictObject({
    framework: frameworkText,
    period_start: instant.describe('From'),
    period_end: instant.optional().describe('None: now'),
  }),
  output: assessmentSchema,
  brief: briefAssessment,
  access: 'compliance:assess',
  workspace: 'scoped',
  edition: 'pro',
  // It keeps what it found; nothing else is written.
  effects: CREATE,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'conflict', 'payload_too_large', 'unavailable'],
  http: { method: 'post', path: '/api/v1/ai/compliance/assess' },
  run: (asked, context) => assessAndKeep(context, asked),
});
