import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { WORKFLOW_STATES } from '../../core/model/workflow-records.ts';
import { listWorkflows as listOf } from '../../core/workflow/workflows.ts';
import { defineOperation } from '../define.ts';
import { pageQuery } from '../page.ts';
import { workflowSchema, workflowView } from './workflow-view.ts';

export const listWorkflows = defineOperation({
  name: 'list_workflows',
  title: 'List workflows',
  description: 'Approval workflows, newest first.',
  input: z.strictObject({
    status: z.enum(WORKFLOW_STATES).optional().describe('In this state'),
    requested_by: lineOfText(TEXT_LIMITS.reference).optional().describe('Such as user:ada'),
    ...pageQuery,
  }),
  output: z.strictObject({ items: z.array(workflowSchema), next_cursor: z.string().optional() }),
  columns: {
    Id: 'id',
    Status: 'status',
    Risk: 'riskLevel',
    'Asked by': 'requestedBy',
    'Asked at': 'requestedAt',
    Summary: 'summary',
  },
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/workflows' },
  async run({ status, requested_by: requestedBy, cursor, limit }, { services, workspace }) {
    const { items, next } = await listOf(services, workspace, { status, requestedBy, cursor, limit });
    return { items: items.map(workflowView), ...(next !== undefined && { next_cursor: next }) };
  },
});
