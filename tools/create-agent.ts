import { z } from 'zod';
import { agentView, viewOfAgent } from '../core/identity/agent-view.ts';
import { createRootAgent, DEFAULT_AGENT_SCOPES, DEFAULT_AGENT_TTL } from '../core/identity/agents.ts';
import { DEFAULT_JOIN_USES, MAX_JOIN_USES } from '../core/identity/join-tokens.ts';
import { egressRuleSchema } from '../core/network/policy.ts';
import { PRESETS } from '../core/network/resources.ts';
import { CREATE } from '../core/operation.ts';
import { PERSON_ONLY_SCOPES, SCOPES } from '../core/scope.ts';
import { lineOfText, TEXT_LIMITS } from '../core/text.ts';
import { agentName } from './agent-fields.ts';
import { defineOperation } from './define.ts';

export const createAgent = defineOperation({
  name: 'create_agent',
  title: 'Create an agent',
  description: 'Makes a root agent and its token: the bearer it uses over MCP and to delegate to sub-agents.',
  input: z.strictObject({
    name: agentName,
    scopes: z
      .array(z.enum(SCOPES))
      .max(SCOPES.length)
      .refine(
        (scopes) => !scopes.some((scope) => PERSON_ONLY_SCOPES.has(scope)),
        'An agent never approves or administers.',
      )
      .default([...DEFAULT_AGENT_SCOPES]),
    ttl: lineOfText(TEXT_LIMITS.duration).default(DEFAULT_AGENT_TTL).describe('Life, such as 24h; at most 90d'),
    policyPreset: z.enum(PRESETS).default('inherit').describe('Widest preset its sub-agents may have'),
    reach: z
      .array(egressRuleSchema)
      .max(100)
      .default([])
      .describe('What it and its sub-agents may reach, and open to others; nothing when left out'),
    tokenUses: z
      .int()
      .min(1)
      .max(MAX_JOIN_USES)
      .default(DEFAULT_JOIN_USES)
      .describe('with tokens:write: devices that one of its join tokens may add'),
  }),
  output: z.strictObject({ id: z.string(), token: z.string(), identity: agentView }),
  access: 'agents:write',
  workspace: 'scoped',
  edition: 'community',
  effects: CREATE,
  confidential: { answer: true },
  problems: ['invalid_input', 'conflict'],
  http: { method: 'post', path: '/api/v1/agents', status: 201 },
  async run(input, context) {
    const { id, token, identity } = await createRootAgent(context, input);
    return { id, token, identity: viewOfAgent(identity) };
  },
});
