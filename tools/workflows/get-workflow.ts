import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { findWorkflow } from '../../core/model/workflow-records.ts';
import { defineOperation } from '../define.ts';
import { briefWorkflow, workflowDetailSchema, workflowDetailView } from './workflow-view.ts';

export const getWorkflow = defineOperation({
  name: 'get_workflow',
  title: 'Get a workflow',
  description: 'State of an approval workflow: its changes, effect, who reviewed it, and what became of it.',
  input: z.strictObject({ id: lineOfText(TEXT_LIMITS.id).min(1).describe('workflow_id') }),
  spellings: { workflow_id: 'id' },
  output: workflowDetailSchema,
  brief: briefWorkflow,
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['not_found'],
  http: { method: 'get', path: '/api/v1/workflows/:id' },
  async run({ id }, { services, workspace }) {
    return workflowDetailView(await findWorkflow(services, workspace, id), services);
  },
});
