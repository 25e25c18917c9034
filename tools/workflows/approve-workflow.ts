import { approveWorkflow as approve } from '../../core/workflow/review.ts';
import { defineOperation } from '../define.ts';
import { review } from './review.ts';
import { workflowDetailView } from './workflow-view.ts';

export const approveWorkflow = defineOperation({
  name: 'approve_workflow',
  title: 'Approve a workflow',
  description: 'Approve a pending workflow and carry it out. Only a signed-in person may; never over MCP.',
  ...review,
  http: { method: 'post', path: '/api/v1/workflows/:id/approve' },
  async run({ id, note }, context) {
    return workflowDetailView(await approve(context, id, note), context.services);
  },
});
