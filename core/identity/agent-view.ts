import { z } from 'zod';
import { egressRuleSchema } from '../network/policy.ts';
import { type AgentRecord, PRESETS } from '../network/resources.ts';
import { SCOPES, type Scope } from '../scope.ts';

/** An agent as answers show it. */
export const agentView = z.strictObject({
  id: z.string(),
  name: z.string(),
  parentRef: z.strictObject({ name: z.string(), namespace: z.string() }).nullable(),
  ttl: z.string(),
  policyPreset: z.enum(PRESETS),
  scopes: z.array(z.enum(SCOPES)),
  expiresAt: z.string(),
  phase: z.enum(['Pending', 'Active', 'Expired', 'Revoked']),
  depth: z.int(),
  peer: z.string().nullable().describe('Name of its peer, once it has enrolled'),
  reach: z
    .array(egressRuleSchema)
    .nullable()
    .describe('Of a root agent: what it and its sub-agents may reach, and open to others'),
  egress: z
    .array(egressRuleSchema)
    .nullable()
    .describe("Of a sandboxed or coordinating sub-agent: what it was granted of its parent's reach"),
  person: z.string().nullable().describe('Of a root agent: who made it and answers for it'),
});

export function viewOfAgent({ uid, name, spec, status }: AgentRecord): z.input<typeof agentView> {
  return {
    id: uid,
    name,
    parentRef: spec.parentRef ?? null,
    ttl: spec.ttl,
    policyPreset: spec.policyPreset,
    scopes: spec.scopes as Scope[],
    expiresAt: spec.expiresAt,
    phase: status.phase,
    depth: status.depth,
    peer: status.peerRef ?? null,
    reach: spec.parentRef ? null : [...(spec.reach ?? [])],
    egress: spec.parentRef ? [...(spec.egress ?? [])] : null,
    person: spec.person?.name ?? null,
  };
}
