import { z } from 'zod';
import { listOf } from '../base/list.ts';
import { PERSON_ONLY_SCOPES, SCOPES, type Scope } from '../base/scope.ts';
import { lineOfText, TEXT_LIMITS } from '../base/text.ts';
import { peerNameFault } from '../model/peer-name.ts';
import { egressRuleSchema } from '../model/policy.ts';
import { PRESETS } from '../model/resources.ts';
import { ruleList } from '../model/rule-list.ts';
import { MAX_JOIN_USES } from '../model/workload-rule.ts';
import { DEFAULT_JOIN_USES } from './join-tokens.ts';

/** Scopes that an agent's maker needs in every operation: a person for a root agent, a parent for its sub-agent. */
export const MAKES_ROOT_AGENTS = 'agents:write' satisfies Scope;
export const DELEGATES = 'agents:delegate' satisfies Scope;

/** Scopes of a root agent whose maker names none: read, plan and apply, and delegate a part of that. */
export const DEFAULT_AGENT_SCOPES: readonly Scope[] = [
  'network:read',
  'snapshots:read',
  'intents:plan',
  'intents:apply',
  'agents:delegate',
];

/** Rules of `reach` or `egress` of one agent. */
const MAX_RULES = 100;

/** A name as a caller gives it: spaces become hyphens before it is stored. */
export const agentName = lineOfText(TEXT_LIMITS.name).superRefine((name, context) => {
  const message = peerNameFault(name);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** Fields that a person sets for a root agent. */
export const rootAgentFields = {
  scopes: listOf(z.enum(SCOPES), SCOPES.length)
    .refine(
      (scopes) => !scopes.some((scope) => PERSON_ONLY_SCOPES.has(scope)),
      'An agent never approves or administers.',
    )
    .default([...DEFAULT_AGENT_SCOPES]),
  ttl: lineOfText(TEXT_LIMITS.duration)
    .optional()
    .describe('Life, such as 2h; at most 90d, 24h when left out; made with an API token at most what that may grant'),
  policyPreset: z.enum(PRESETS).default('inherit').describe('Limit of its sub-agents'),
  reach: ruleList(egressRuleSchema, MAX_RULES)
    .default([])
    .describe('What it and its sub-agents may reach, and open to others; nothing when left out'),
  tokenUses: z
    .int()
    .min(1)
    .max(MAX_JOIN_USES)
    .default(DEFAULT_JOIN_USES)
    .describe('with tokens:write: devices that one of its join tokens may add'),
};

/** Fields that a parent sets for its sub-agent. */
export const subAgentFields = {
  ttl: lineOfText(TEXT_LIMITS.duration).describe(
    'Life of token and sub-agent, such as 30m; at most what is left of yours',
  ),
  policyPreset: z.enum(PRESETS).describe('isolated < sandboxed < coordinator < inherit; never wider than yours'),
  scopes: listOf(z.enum(SCOPES), SCOPES.length).default(['network:read']).describe('Subset of yours'),
  egress: ruleList(egressRuleSchema, MAX_RULES)
    .default([])
    .describe(
      'What a sandboxed sub-agent may reach: egress rules such as [{"to":[{"peerSelector":{"matchLabels":{"role":"db"}}}],"ports":[{"port":5432}]}]',
    ),
};
