import { z } from 'zod';
import { listOf } from '../base/list.ts';
import { schemaNames } from '../base/schema-names.ts';
import { instantText, lineOfText, TEXT_LIMITS } from '../base/text.ts';
import { containsRange, parseCidr } from './cidr.ts';
import { labelKeySchema, labelsSchema, labelValueSchema } from './labels.ts';
import { ruleList } from './rule-list.ts';

/** Bounds on one policy, so that no write can make the engine slow. A stored record is at most 8 KB compressed besides. */
export const POLICY_LIMITS = {
  rulesPerDirection: 1_000,
  entriesPerRule: 4_000,
  portsPerRule: 1_000,
  expressionsPerSelector: 64,
  /** Peers that a selector lists, or leaves out: as many ids as a record holds with room to spare. */
  peersPerSelector: 256,
  valuesPerExpression: 1_000,
  exceptsPerBlock: 1_000,
} as const;

const PORT_RANGE = 'a port is a whole number from 1 to 65535';
const NAMED_PORT = 'write the number of the port: peers have no list of containers that would give it a name';
const portNumber = z
  .int({ error: ({ input }) => (typeof input === 'string' ? NAMED_PORT : PORT_RANGE) })
  .min(1, { error: PORT_RANGE })
  .max(65_535, { error: PORT_RANGE });

export const protocolSchema = z.enum(['TCP', 'UDP', 'SCTP', 'ICMP'], {
  error: 'protocol is TCP, UDP, SCTP or ICMP',
});
export type Protocol = z.output<typeof protocolSchema>;

const expressionSchema = z
  .strictObject({
    key: labelKeySchema,
    operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist'], {
      error: 'operator is In, NotIn, Exists or DoesNotExist',
    }),
    values: listOf(labelValueSchema, POLICY_LIMITS.valuesPerExpression).optional(),
  })
  .superRefine(({ operator, values }, context) => {
    const takesValues = operator === 'In' || operator === 'NotIn';
    if (takesValues && !values?.length) {
      context.addIssue({ code: 'custom', path: ['values'], message: `${operator} needs at least one value` });
    } else if (!takesValues && values?.length) {
      context.addIssue({ code: 'custom', path: ['values'], message: `${operator} takes no values` });
    }
  });

const peerList = listOf(lineOfText(TEXT_LIMITS.name).min(1), POLICY_LIMITS.peersPerSelector);

const NO_SELECTOR =
  'Required: whom the policy is about. Everyone: write {}. Else {"matchLabels": {"role": "db"}} or {"peers": ["db-1"]}.';

/**
 * Which peers are meant: everything that is said must hold; an empty selector means every peer. Peers are listed by name
 * or id in what callers send, and by id in what is stored (`peer-lists.ts`). An empty list of `peers` means nobody.
 */
export const selectorSchema = z
  .strictObject(
    {
      peers: peerList.optional().describe('Names or ids'),
      notPeers: peerList.optional(),
      matchLabels: labelsSchema.optional(),
      matchExpressions: listOf(expressionSchema, POLICY_LIMITS.expressionsPerSelector).optional(),
    },
    { error: ({ input }) => (input === undefined ? NO_SELECTOR : undefined) },
  )
  .meta({ id: 'Selector', description: 'All that is said must hold; {} is everyone' })
  .register(schemaNames, { name: 'Selector' });
export type Selector = z.output<typeof selectorSchema>;

const CIDR_FORM = 'a CIDR such as 10.96.0.0/24 or fd00::/8 is needed';
const cidrText = lineOfText(TEXT_LIMITS.cidr).refine((text) => parseCidr(text) !== undefined, { error: CIDR_FORM });

const ipBlockSchema = z
  .strictObject({ cidr: cidrText, except: listOf(cidrText, POLICY_LIMITS.exceptsPerBlock).optional() })
  .superRefine(({ cidr, except }, context) => {
    const outer = parseCidr(cidr);
    for (const [index, text] of (except ?? []).entries()) {
      const inner = parseCidr(text);
      if (outer && inner && !containsRange(outer, inner)) {
        context.addIssue({ code: 'custom', path: ['except', index], message: `${text} lies outside cidr ${cidr}` });
      }
    }
  });

const namedEntrySchema = z
  .strictObject({ peerSelector: selectorSchema.optional(), ipBlock: ipBlockSchema.optional() })
  .refine(({ peerSelector, ipBlock }) => (peerSelector === undefined) !== (ipBlock === undefined), {
    error: 'exactly one of peerSelector and ipBlock is needed',
  });

/** An entry of `from` or `to`. `"*"` means anyone, addresses outside the network included. */
export const peerEntrySchema = z.union([z.literal('*'), namedEntrySchema], { error: describeEntryIssue });
export type PeerEntry = z.output<typeof peerEntrySchema>;

/** An entry of `ports`. Without `port` it means every port of the protocol, which is TCP unless named. */
export const portEntrySchema = z
  .strictObject({ protocol: protocolSchema.optional(), port: portNumber.optional(), endPort: portNumber.optional() })
  .superRefine(({ protocol, port, endPort }, context) => {
    const refuse = (field: 'port' | 'endPort', message: string) =>
      context.addIssue({ code: 'custom', path: [field], message });
    if (protocol === 'ICMP' && port !== undefined) refuse('port', 'ICMP has no ports');
    if (protocol === 'ICMP' && endPort !== undefined) refuse('endPort', 'ICMP has no ports');
    if (endPort === undefined || protocol === 'ICMP') return;
    if (port === undefined) refuse('endPort', 'endPort needs port');
    else if (endPort < port) refuse('endPort', `endPort ${endPort} is below port ${port}`);
  });
export type PortEntry = z.output<typeof portEntrySchema>;

const ports = listOf(portEntrySchema, POLICY_LIMITS.portsPerRule)
  .meta({ id: 'Ports', description: 'None: every port and ICMP' })
  .optional();
const entries = listOf(peerEntrySchema, POLICY_LIMITS.entriesPerRule)
  .meta({ id: 'Peers', description: 'None, or "*": anyone' })
  .optional();

export const ingressRuleSchema = z.strictObject({ from: entries, ports });
export const egressRuleSchema = z.strictObject({ to: entries, ports });
export type IngressRule = z.output<typeof ingressRuleSchema>;
export type EgressRule = z.output<typeof egressRuleSchema>;

/** `spec` of a MeshPolicy (docs/policy.md#meshpolicy). A direction applies when its key is present; with neither, both do. */
export const policySpecSchema = z.strictObject({
  network: lineOfText(TEXT_LIMITS.name).min(1).optional(),
  action: z.enum(['ALLOW', 'DENY'], { error: 'action is ALLOW or DENY' }),
  peerSelector: selectorSchema.optional(),
  ingress: listOf(ingressRuleSchema, POLICY_LIMITS.rulesPerDirection).optional(),
  egress: listOf(egressRuleSchema, POLICY_LIMITS.rulesPerDirection).optional(),
  startsAt: instantText('startsAt is an ISO 8601 time such as 2030-01-31T12:00:00Z').optional(),
  expiresAt: instantText('expiresAt is an ISO 8601 time such as 2030-01-31T12:00:00Z').optional(),
});
export type PolicySpec = z.output<typeof policySpecSchema>;

/** A spec as callers send it: stored rules may weigh more. */
export const sentSpecSchema = policySpecSchema.extend({
  ingress: ruleList(ingressRuleSchema, POLICY_LIMITS.rulesPerDirection).optional(),
  egress: ruleList(egressRuleSchema, POLICY_LIMITS.rulesPerDirection).optional(),
});

/** A spec as callers write it: nobody is meant by silence. Policies that were stored without a selector mean everyone. */
export const policyInputSchema = sentSpecSchema
  .extend({ peerSelector: selectorSchema })
  .register(schemaNames, { name: 'PolicySpec' });

/** A stored spec in an answer. It was checked when it was written, by the rules of its time, and is not checked again. */
export const storedPolicySpec = z.custom<PolicySpec>().meta({ override: { $ref: '#/components/schemas/PolicySpec' } });

/** A rule of either direction: the peers at the other end, and the ports. */
export interface Rule {
  readonly direction: 'ingress' | 'egress';
  readonly peers: readonly PeerEntry[];
  readonly ports: readonly PortEntry[];
}

/** A union hides which field of its object form was wrong; this brings the field's name back. */
function describeEntryIssue(issue: {
  readonly code?: string | undefined;
  readonly input?: unknown;
  readonly errors?: unknown;
}): string {
  if (typeof issue.input !== 'object' || issue.input === null) {
    return 'an entry is "*", {peerSelector: …} or {ipBlock: {cidr, except?}}';
  }
  const found = namedEntrySchema.safeParse(issue.input).error?.issues[0];
  if (found === undefined) return 'the entry is malformed';
  return found.path.length > 0 ? `${found.path.join('.')}: ${found.message}` : found.message;
}
