import { z } from 'zod';
import { SCOPES, type Scope } from '../base/scope.ts';
import { formatInstant } from '../base/time.ts';
import { egressRuleSchema } from '../model/policy.ts';
import { type AgentClient, type AgentRecord, PRESETS } from '../model/resources.ts';

/** An agent as answers show it. */
export const agentSchema = z.strictObject({
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
  barred: z
    .literal(true)
    .optional()
    .describe('Its peer was revoked and has gone since: it may do nothing until it ends'),
  reach: z
    .array(egressRuleSchema)
    .nullable()
    .describe('Of a root agent: what it and its sub-agents may reach, and open to others'),
  egress: z
    .array(egressRuleSchema)
    .nullable()
    .describe("Of a sandboxed or coordinating sub-agent: what it was granted of its parent's reach"),
  tokenUses: z
    .int()
    .nullable()
    .describe('Of a root agent with tokens:write: devices that one of its join tokens may add'),
  person: z.string().nullable().describe('Of a root agent: who made it and answers for it'),
  client: z
    .strictObject({
      key: z.string().describe('Identifies the client at this resource'),
      name: z.string().describe('As it calls itself'),
      host: z
        .string()
        .describe('Where its codes are sent; of a client that another authorization server let in, where that is'),
      resource: z.string(),
      signedOut: z
        .literal(true)
        .optional()
        .describe('It has no grant any more: the agent may act, and nobody does as it'),
    })
    .optional()
    .describe('The OAuth client that acts as it'),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
  createdAt: z.string(),
  revision: z.int(),
});

export type AgentView = z.input<typeof agentSchema>;

/** @param signedIn uids of agents whose OAuth client is signed in; absent where that is not known */
export function agentView(agent: AgentRecord, signedIn?: ReadonlySet<string>): AgentView {
  const { uid, name, spec, status, labels, annotations, createdAt, revision } = agent;
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
    ...(status.barred && { barred: true }),
    reach: spec.parentRef ? null : [...(spec.reach ?? [])],
    egress: spec.parentRef ? [...(spec.egress ?? [])] : null,
    tokenUses: spec.tokenUses ?? null,
    person: spec.person?.name ?? null,
    ...(status.client && {
      client: { ...clientView(status.client), ...(signedIn?.has(uid) === false && { signedOut: true }) },
    }),
    labels,
    annotations,
    createdAt: formatInstant(createdAt),
    revision,
  };
}

function clientView({ key, name, host, resource }: AgentClient) {
  return { key, name, host, resource };
}

const { shape } = agentSchema;

/** The two halves of the custom resource: what its maker wrote, and what became of it. */
export const agentPartSchemas = {
  spec: z.strictObject({
    parentRef: shape.parentRef.unwrap().optional().describe('Agent that delegated'),
    ttl: shape.ttl,
    policyPreset: shape.policyPreset,
    scopes: shape.scopes,
    reach: shape.reach.unwrap().optional(),
    egress: shape.egress.unwrap().optional(),
    tokenUses: shape.tokenUses.unwrap().optional(),
  }),
  status: z.strictObject({
    phase: shape.phase,
    expiresAt: shape.expiresAt,
    depth: shape.depth,
    peerRef: z.string().optional(),
    barred: shape.barred,
    person: z.string().optional(),
    client: shape.client,
  }),
};

/** Returns the two halves of an agent as {@link agentPartSchemas} has them. */
export function agentParts(agent: Omit<AgentView, 'createdAt' | 'revision'>) {
  const { parentRef, ttl, policyPreset, scopes, reach, egress, tokenUses } = agent;
  const { phase, expiresAt, depth, peer, barred, person, client } = agent;
  return {
    spec: {
      ...(parentRef && { parentRef }),
      ttl,
      policyPreset,
      scopes,
      ...(reach && reach.length > 0 && { reach }),
      ...(egress && egress.length > 0 && { egress }),
      ...(tokenUses !== null && { tokenUses }),
    },
    status: {
      phase,
      expiresAt,
      depth,
      ...(peer !== null && { peerRef: peer }),
      ...(barred && { barred }),
      ...(person !== null && { person }),
      ...(client && { client }),
    },
  };
}
