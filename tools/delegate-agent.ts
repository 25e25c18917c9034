import { z } from 'zod';
import { delegate } from '../core/identity/agents.ts';
import { egressRuleSchema } from '../core/network/policy.ts';
import { PRESETS } from '../core/network/resources.ts';
import { CREATE } from '../core/operation.ts';
import { SCOPES } from '../core/scope.ts';
import { lineOfText, TEXT_LIMITS } from '../core/text.ts';
import { agentName } from './agent-fields.ts';
import { defineOperation } from './define.ts';

export const delegateAgent = defineOperation({
  name: 'delegate_agent',
  title: 'Delegate to a sub-agent',
  description:
    'Issues a one-use enrolment token for a sub-agent that can do less than you and ends on time. Called with your own agent token.',
  input: z.strictObject({
    id: lineOfText(TEXT_LIMITS.reference).min(1).describe('Your own agent id, or self'),
    subAgentName: agentName,
    ttl: lineOfText(TEXT_LIMITS.duration).describe(
      'Life of token and sub-agent, such as 30m; at most what is left of yours',
    ),
    policyPreset: z.enum(PRESETS).describe('isolated < sandboxed < coordinator < inherit; never wider than yours'),
    scopes: z.array(z.enum(SCOPES)).max(SCOPES.length).default(['network:read']).describe('Subset of yours'),
    egress: z.array(egressRuleSchema).max(100).default([]).describe('What a sandboxed sub-agent may reach'),
  }),
  output: z.strictObject({
    enrollmentToken: z.string(),
    expiresAt: z.string(),
    parentRef: z.strictObject({ name: z.string(), namespace: z.string() }),
  }),
  access: 'agents:delegate',
  workspace: 'scoped',
  edition: 'community',
  effects: CREATE,
  problems: ['invalid_input', 'forbidden', 'conflict'],
  http: { method: 'post', path: '/api/v1/agents/:id/delegate' },
  run: ({ id, subAgentName, ...request }, context) => delegate(context, id, subAgentName, request),
});
