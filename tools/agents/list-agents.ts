import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { signedInAgents } from '../../core/identity/client-grants.ts';
import { agentSchema, agentView } from '../../core/views/agent-view.ts';
import { defineOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';
import { agentColumns } from './agent-fields.ts';

export const listAgents = defineOperation({
  name: 'list_agents',
  title: 'List agents',
  description: 'Agents of the workspace, roots and sub-agents, by name.',
  input: z.strictObject({ ...pageQuery, phase: z.enum(['Pending', 'Active', 'Expired', 'Revoked']).optional() }),
  output: z.strictObject({ items: z.array(agentSchema), next_cursor: z.string().optional() }),
  columns: agentColumns,
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  shows: 'AgentIdentity',
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/agents' },
  async run({ phase, ...query }, { services, workspace }) {
    const { agents } = await services.states.current(workspace);
    const wanted = [...agents.values()].filter(({ status }) => phase === undefined || status.phase === phase);
    const signedIn = await signedInAgents(services, workspace, wanted);
    return pageOf(wanted, query, (agent) => agentView(agent, signedIn));
  },
});
