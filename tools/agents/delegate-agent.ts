import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { agentName, DELEGATES, subAgentFields } from '../../core/identity/agent-request.ts';
import { delegate } from '../../core/identity/agents.ts';
import { defineOperation } from '../define.ts';

export const delegateAgent = defineOperation({
  name: 'delegate_agent',
  title: 'Delegate to a sub-agent',
  description: 'Issues a one-use enrolment token for a sub-agent that can do less than you and ends on time.',
  input: z.strictObject({
    id: lineOfText(TEXT_LIMITS.reference).min(1).describe('Your own agent id, or self'),
    subAgentName: agentName.describe('Its name'),
    ...subAgentFields,
  }),
  output: z.strictObject({
    enrollmentToken: z.string(),
    expiresAt: z.string(),
    parentRef: z.strictObject({ name: z.string(), namespace: z.string() }),
  }),
  access: DELEGATES,
  workspace: 'scoped',
  edition: 'community',
  effects: CREATE,
  problems: ['invalid_input', 'forbidden', 'conflict'],
  http: { method: 'post', path: '/api/v1/agents/:id/delegate' },
  run: ({ id, subAgentName, ...request }, context) => delegate(context, id, { name: subAgentName, ...request }),
});
