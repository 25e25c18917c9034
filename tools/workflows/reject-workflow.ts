import { rejectWorkflow as reject } from '../../core/workflow/review.ts';
import { defineOperation } from '../define.ts';
import { review } from './review.ts';
import { workflowDetailView } from './workflow-view.ts';

export const rejectWorkflow = defineOperation({
  name: 'reject_workflow',
  title: 'Reject a workflow',
  description: 'Reject a pending workflow. Only a signed-in person may; never over MCP.',
  ...review,
  whenFull: 'works',
  http: { method: 'post', path: '/api/v1/workflows/:id/reject' },
  async run({ id, note }, context) {
    return workflowDetailView(await reject(context, id, note), context.services);
  },
});
