import { z } from 'zod';
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
    person: spec.person?.name ?? null,
  };
}
