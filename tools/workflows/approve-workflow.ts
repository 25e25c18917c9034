import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { approveWorkflow as approve } from '../../core/workflow/review.ts';
import { defineOperation } from '../define.ts';
import { otpText } from '../users/otp-schema.ts';
import { assertion } from '../users/passkey-schema.ts';
import { review } from './review.ts';
import { workflowDetailView } from './workflow-view.ts';

export const approveWorkflow = defineOperation({
  name: 'approve_workflow',
  title: 'Approve a workflow',
  description: 'Approve a pending workflow and carry it out. Only a signed-in person may; never over MCP.',
  ...review,
  input: review.input.extend({
    digest: lineOfText(TEXT_LIMITS.id)
      .optional()
      .describe(
        'Of what was seen (redraw_workflow): that is approved, or nothing where the change would do otherwise by now',
      ),
    otp: otpText.optional().describe('a code of your second factor, where the workspace asks for one (approvalCode)'),
    passkey: assertion.optional().describe('in place of the code'),
  }),
  confidential: { input: ['otp', 'passkey'] },
  problems: [...review.problems, 'invalid_input', 'plan_stale', 'policy_assertion_failed', 'rate_limited'],
  http: { method: 'post', path: '/api/v1/workflows/:id/approve' },
  async run({ id, ...approval }, context) {
    return workflowDetailView(await approve(context, id, approval), context.services);
  },
});
