import { z } from 'zod';
import { commitContext } from '../core/commit-context.ts';
import { findAgent } from '../core/identity/agents.ts';
import { endAgents } from '../core/identity/end-agents.ts';
import { DELETE } from '../core/operation.ts';
import { agentId } from './agent-fields.ts';
import { defineOperation } from './define.ts';

export const revokeAgent = defineOperation({
  name: 'revoke_agent',
  title: 'Revoke an agent',
  description: 'Ends an agent and everything it delegated at once: identities, peers, preset policies and tokens.',
  input: z.strictObject({ id: agentId }),
  output: z.strictObject({ revoked: z.array(z.string()).describe('Names of the agents that ended') }),
  access: 'agents:write',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  problems: ['not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/agents/:id' },
  async run({ id }, context) {
    const agent = await findAgent(context, id);
    const reason = commitContext(context, `revoke agent ${agent.name}`);
    const revoked = await endAgents(context.services, context.workspace, () => [agent], 'Revoked', reason);
    return { revoked };
  },
});
