import { z } from 'zod';
import { invalidInput } from '../../core/base/errors.ts';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { workspaceOfPlan } from '../../core/intent/plan/plan-record.ts';
import { WORKFLOW_STATES } from '../../core/model/workflow-records.ts';
import { applyPlan } from '../../core/workflow/apply.ts';
import { approvalUrl } from '../../core/workflow/approval-url.ts';
import { needsAnotherPerson } from '../../core/workflow/approvers.ts';
import { defineOperation } from '../define.ts';

export const applyNetworkChange = defineOperation({
  name: 'apply_network_change',
  title: 'Apply a network change',
  description:
    'Put a plan into the approval workflow. A person approves it over REST or the dashboard; follow it with get_workflow.',
  input: z.strictObject({
    plan_id: lineOfText(TEXT_LIMITS.id).min(1).describe('Of plan_network_change'),
    approved_by: lineOfText(TEXT_LIMITS.title)
      .trim()
      .min(1)
      .optional()
      .describe('Approver, by user name or id; REST needs it'),
  }),
  output: z.strictObject({
    workflow_id: z.string(),
    status: z.enum([...WORKFLOW_STATES, 'pending_approval']),
    approval_url: z.string(),
    another_person: z.literal(true).optional().describe('You may not approve it'),
    auto_approve: z.boolean(),
    message: z.string(),
  }),
  access: 'intents:apply',
  workspace: 'scoped',
  workspaceOf: async ({ plan_id: id }, services) =>
    typeof id === 'string' && id.length <= TEXT_LIMITS.id ? workspaceOfPlan(services, id) : undefined,
  edition: 'pro',
  effects: { ...CREATE, destructiveHint: true },
  problems: [
    'invalid_input',
    'not_found',
    'conflict',
    'dry_run',
    'plan_stale',
    'plan_expired',
    'policy_assertion_failed',
    'expired',
  ],
  http: { method: 'post', path: '/api/v1/ai/intent/apply' },
  async run({ plan_id: planId, approved_by: approvedBy }, context) {
    if (context.face === 'rest' && approvedBy === undefined) {
      throw invalidInput(
        [{ pointer: '/approved_by', detail: 'Name the person who is asked to approve.' }],
        '/approved_by: Name the person who is asked to approve.',
      );
    }
    const { name, spec, status } = await applyPlan(context, planId, approvedBy);
    const waiting = status.state === 'pending';
    const byAnother = waiting && (await needsAnotherPerson(context, spec));
    const url = approvalUrl(context.services, name);
    return {
      workflow_id: name,
      status: waiting ? ('pending_approval' as const) : status.state,
      approval_url: url,
      ...(byAnother && { another_person: true as const }),
      auto_approve: spec.autoApprove,
      message: waiting
        ? `${byAnother ? 'Another person' : 'A person'} has to approve this at ${url}.`
        : `The workflow is ${status.state}${status.error ? `: ${status.error}` : '.'}`,
    };
  },
});
