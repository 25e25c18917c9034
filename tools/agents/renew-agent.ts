import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { renewAgent as renew } from '../../core/identity/renew-agent.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { agentSchema, agentView } from '../../core/views/agent-view.ts';
import { defineOperation } from '../define.ts';

export const renewAgent = defineOperation({
  name: 'renew_agent',
  title: 'Renew an agent',
  description:
    'Gives a root agent of yours another token and a longer life; its earlier token is refused from then on. What it delegated and made stays.',
  input: z.strictObject({
    ...addressedFields,
    ttl: lineOfText(TEXT_LIMITS.duration)
      .optional()
      .describe('Life from now on, such as 24h; at most 90d, never less than it has left. None: as it was made with'),
  }),
  output: z.strictObject({ id: z.string(), token: z.string(), identity: agentSchema }),
  access: 'agents:write',
  workspace: 'scoped',
  edition: 'community',
  effects: { ...UPDATE, idempotentHint: false },
  confidential: { answer: true },
  addresses: 'AgentIdentity',
  problems: ['invalid_input', 'forbidden', 'not_found', 'conflict', 'expired'],
  http: { method: 'post', path: '/api/v1/agents/:id/renew' },
  async run({ id, ttl }, context) {
    const { token, agent } = await renew(context, id, ttl);
    return { id: agent.uid, token, identity: agentView(agent) };
  },
});
