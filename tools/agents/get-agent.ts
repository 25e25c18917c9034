import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { readableAgent } from '../../core/identity/agents.ts';
import { signedInAgents } from '../../core/identity/client-grants.ts';
import { workspaceById } from '../../core/model/workspaces.ts';
import { agentPartSchemas, agentParts, agentSchema, agentView } from '../../core/views/agent-view.ts';
import { customResource, documentSchema } from '../../core/views/custom-resource.ts';
import { defineOperation } from '../define.ts';
import { agentId } from './agent-fields.ts';

const document = documentSchema('AgentIdentity', { namespace: z.string(), uid: z.string() }, agentPartSchemas);

export const getAgent = defineOperation({
  name: 'get_agent',
  title: 'Get an agent',
  description:
    'One agent, by id or name, or `self`: as a record and as the custom resource AgentIdentity. An agent reads itself, its ancestors and its sub-agents; others need network:read.',
  input: z.strictObject({ id: agentId }),
  output: agentSchema.extend(document.shape),
  access: 'authenticated',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  addresses: 'AgentIdentity',
  shows: 'AgentIdentity',
  problems: ['not_found', 'forbidden'],
  http: { method: 'get', path: '/api/v1/agents/:id' },
  async run({ id }, context) {
    const record = await readableAgent(context, id);
    const agent = agentView(record, await signedInAgents(context.services, context.workspace, [record]));
    const { namespace } = (await workspaceById(context.services, context.workspace)).spec;
    const { apiVersion, metadata } = customResource('AgentIdentity', agent, namespace);
    return {
      ...agent,
      apiVersion,
      kind: 'AgentIdentity' as const,
      metadata: { ...metadata, uid: agent.id },
      ...agentParts(agent),
    };
  },
});
