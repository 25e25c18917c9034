import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { findAgent } from '../../core/identity/agents.ts';
import { family } from '../../core/state/agent-tree.ts';
import { agentSchema, agentView } from '../../core/views/agent-view.ts';
import { defineOperation } from '../define.ts';
import { fitting } from '../page.ts';
import { agentColumns, agentId } from './agent-fields.ts';

/** Agents of one answer, parents first. */
export const MAX_AGENTS = 1_000;

export const getAgentTree = defineOperation({
  name: 'get_agent_tree',
  title: 'Get an agent and its sub-agents',
  description: 'An agent and everything delegated below it, parents first.',
  input: z.strictObject({ id: agentId }),
  output: z.strictObject({
    items: z.array(agentSchema),
    omitted: z.int().describe('Agents left out; the tree of a sub-agent shows those below it'),
  }),
  columns: agentColumns,
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  shows: 'AgentIdentity',
  problems: ['not_found'],
  http: { method: 'get', path: '/api/v1/agents/:id/tree' },
  async run({ id }, context) {
    const root = await findAgent(context, id);
    const state = await context.services.states.current(context.workspace);
    const agents = family(state, root);
    const items = fitting(agents, MAX_AGENTS, (agent) => agentView(agent));
    return { items, omitted: agents.length - items.length };
  },
});
