import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { readableAgent } from '../../core/identity/agents.ts';
import { workspaceById } from '../../core/model/workspaces.ts';
import { agentSchema, agentView } from '../../core/views/agent-view.ts';
import { customResource } from '../../core/views/custom-resource.ts';
import { defineOperation } from '../define.ts';
import { agentId } from './agent-fields.ts';

const part = z.record(z.string(), z.unknown());

export const getAgent = defineOperation({
  name: 'get_agent',
  title: 'Get an agent',
  description:
    'One agent, by id or name, or `self`: as a record and as the custom resource AgentIdentity. An agent reads itself, its ancestors and its sub-agents; others need network:read.',
  input: z.strictObject({ id: agentId }),
  output: agentSchema.extend({
    apiVersion: z.string(),
    kind: z.string(),
    metadata: part,
    spec: part.describe('As it was asked for; parentRef names the agent that delegated'),
    status: part,
  }),
  access: 'authenticated',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  addresses: 'AgentIdentity',
  shows: 'AgentIdentity',
  problems: ['not_found', 'forbidden'],
  http: { method: 'get', path: '/api/v1/agents/:id' },
  async run({ id }, context) {
    const agent = agentView(await readableAgent(context, id));
    const { namespace } = (await workspaceById(context.services, context.workspace)).spec;
    return { ...agent, ...customResource('AgentIdentity', agent, namespace) };
  },
});
