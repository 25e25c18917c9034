import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { findAgent } from '../../core/identity/agents.ts';
import { readableActors } from '../../core/identity/audit-reach.ts';
import { ancestors } from '../../core/state/agent-tree.ts';
import { defineOperation } from '../define.ts';
import { agentId } from './agent-fields.ts';
import { callColumns, callsPage, callsPageOf, callsQuery } from './traced-call-view.ts';

export const listAgentCalls = defineOperation({
  name: 'list_agent_calls',
  title: 'List what an agent called',
  description:
    'The last calls of one agent, newest first: operation, arguments and result, cut and without secrets. The audit log keeps for ever what it changed.',
  input: z.strictObject({ id: agentId, ...callsQuery }),
  output: callsPage,
  columns: callColumns,
  access: 'audit:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input', 'not_found', 'beyond_delegation'],
  http: { method: 'get', path: '/api/v1/agents/:id/calls' },
  async run({ id, ...query }, context) {
    const { services, workspace } = context;
    const agent = await findAgent(context, id);
    await readableActors(context, `agent:${agent.name}`);
    const state = await services.states.current(workspace);
    const family = ancestors(state, agent).at(-1)?.uid ?? agent.uid;
    return callsPageOf(await services.calls.of({ workspace, caller: agent.uid, family }), query);
  },
});
