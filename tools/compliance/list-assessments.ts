import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { listAssessments as listOf } from '../../core/compliance/assessments.ts';
import { defineOperation } from '../define.ts';
import { pageQuery } from '../page.ts';
import { assessmentRow, frameworkText } from './assessment-fields.ts';

export const listAssessments = defineOperation({
  name: 'list_assessments',
  title: 'List assessments',
  description:
    'Stored assessments, newest first: how the score went. A short page with a next_cursor is not the last one.',
  input: z.strictObject({ framework: frameworkText.optional(), ...pageQuery }),
  output: z.strictObject({ items: z.array(assessmentRow), next_cursor: z.string().optional() }),
  columns: {
    Id: 'evidence_id',
    Framework: 'canonical_framework',
    From: 'period_start',
    To: 'period_end',
    Score: 'score',
    Status: 'status',
  },
  access: 'compliance:assess',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/ai/compliance/assessments' },
  async run({ framework, cursor, limit }, { services, workspace }) {
    const { items, next } = await listOf(services, workspace, { framework, cursor, limit });
    return { items: [...items], ...(next !== undefined && { next_cursor: next }) };
  },
});
