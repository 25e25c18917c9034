import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { agentName, MAKES_ROOT_AGENTS, rootAgentFields } from '../../core/identity/agent-request.ts';
import { createRootAgent } from '../../core/identity/agents.ts';
import { agentSchema, agentView } from '../../core/views/agent-view.ts';
import { defineOperation } from '../define.ts';

export const createAgent = defineOperation({
  name: 'create_agent',
  title: 'Create an agent',
  description: 'Makes a root agent and its token: the bearer it uses over MCP and to delegate to sub-agents.',
  input: z.strictObject({ name: agentName, ...rootAgentFields }),
  output: z.strictObject({ id: z.string(), token: z.string(), identity: agentSchema }),
  access: MAKES_ROOT_AGENTS,
  workspace: 'scoped',
  edition: 'community',
  effects: CREATE,
  confidential: { answer: true },
  problems: ['invalid_input', 'conflict'],
  http: { method: 'post', path: '/api/v1/agents', status: 201 },
  async run(input, context) {
    const { id, token, identity } = await createRootAgent(context, input);
    return { id, token, identity: agentView(identity) };
  },
});
