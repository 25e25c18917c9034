import { z } from 'zod';
import { invalidInput } from '../../core/base/errors.ts';
import type { CallContext } from '../../core/base/operation.ts';
import { schemaNames } from '../../core/base/schema-names.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { connectivity } from '../../core/history/connectivity.ts';
import { asksGroups, reachGroups } from '../../core/history/reach-groups.ts';
import { proposedChangeSchema } from '../../core/intent/plan/change-input.ts';
import type { ComputeServices } from '../../core/intent/plan/services.ts';
import { protocolSchema } from '../../core/model/policy.ts';
import { allowedSchema, blockerSchema, stepSchema } from '../../core/reachability/answers.ts';
import { pageQuery } from '../page.ts';
import { commitSchema } from '../snapshots/commit-fields.ts';

/** A pair and what is asked of it; the same fields on every connectivity question. */
export const pairQuery = {
  src: lineOfText(TEXT_LIMITS.reference).min(1).describe('Peer that connects: name, id, address'),
  dst: lineOfText(TEXT_LIMITS.reference).min(1).describe('Peer it connects to'),
  protocol: protocolSchema.optional().describe('None: TCP with a port, else all'),
  port: z.int().min(1).max(65_535).optional().describe('At dst'),
};

/** As {@link pairQuery}; an end that is left out is everyone, and a label is all that have it. */
export const groupQuery = {
  ...pairQuery,
  src: pairQuery.src.optional().describe('Peer, label=value, address, CIDR or outside; none: anyone'),
  dst: pairQuery.dst.optional().describe('Likewise'),
  cursor: pageQuery.cursor,
};

/** A port without a protocol means TCP, as in a policy. @throws MeshError `invalid_input` for a port of ICMP */
export function withProtocol<
  Q extends { readonly protocol?: z.output<typeof protocolSchema> | undefined; readonly port?: number | undefined },
>(query: Q): Q {
  if (query.protocol === 'ICMP' && query.port !== undefined) {
    throw invalidInput([{ pointer: '/port', detail: 'ICMP has no ports: leave it out.' }]);
  }
  return query.protocol === undefined && query.port !== undefined ? { ...query, protocol: 'TCP' as const } : query;
}

export const allowedPorts = z.union([
  z.literal('ALL'),
  z.array(z.strictObject({ protocol: protocolSchema, from: z.int().optional(), to: z.int().optional() })),
]);

const verdict = z.enum(['reachable', 'unreachable', 'partial']);
const presence = z.enum(['online', 'offline', 'unknown']);

const applyChanges = z
  .strictObject({
    change: z.literal('apply_changes'),
    changes: z.array(proposedChangeSchema).readonly(),
    opens_pairs: z.int(),
    closes_pairs: z.int(),
  })
  .register(schemaNames, { name: 'FixByChanges' });
const otherFix = z
  .strictObject({
    change: z.enum(['approve_peer', 'rejoin', 'widen_reach', 'come_online']),
    peer: z.string(),
    by: z.string().describe('Who can do it'),
    detail: z.string(),
  })
  .register(schemaNames, { name: 'FixByOthers' });

export const wouldFixField = z
  .array(z.union([applyChanges, otherFix]))
  .readonly()
  .describe('What to do, in this order; all of it together was computed to open what was asked');

export const connectivityAnswer = z.strictObject({
  verdict: z.enum(['reachable', 'unreachable', 'partial', 'undetermined']).describe('By policy alone; see presence'),
  presence: z.strictObject({ src: presence, dst: presence }),
  usable: z.boolean().describe('Allowed, and both ends online'),
  at: z.string(),
  snapshot_id: z.string().nullable(),
  revision: z.int().nullable(),
  valid_from: z.string().nullable().describe('Since when the verdict and its ports hold'),
  valid_to: z.string().nullable().describe('Until when; null while they hold, or see note'),
  at_least_from: z.string().optional().describe('If valid_from is null: at least since then'),
  steps: z.array(stepSchema).readonly(),
  allowed: allowedPorts,
  blocked_by: z.array(blockerSchema).readonly(),
  would_fix: wouldFixField,
  note: z.string().optional().describe('Of addresses outside, an unknown end, or policies to begin'),
  now: z
    .strictObject({ verdict, changed_by: commitSchema.nullable() })
    .describe('The verdict today and the commit that changed it'),
});

/** The answer to a question with an open end or a label. */
const groupsAnswer = z.strictObject({
  verdict: verdict.describe('All, none or some of the pairs'),
  at: z.string(),
  snapshot_id: z.string().nullable(),
  revision: z.int(),
  asked_pairs: z.int().describe('Ordered pairs asked about; a range outside is one end'),
  open_pairs: z.int().describe('Those of them that may talk'),
  group_count: z.int(),
  groups: z
    .array(
      z.strictObject({ src: z.array(z.string()), dst: z.array(z.string()), pairs: z.int(), allowed: allowedSchema }),
    )
    .describe('Peers by labels and names that share their ports, and addresses outside that policies name'),
  next_cursor: z.string().optional(),
});

groupsAnswer.register(schemaNames, { name: 'ConnectivityGroups' });

export const pairOrGroups = z.union([connectivityAnswer, groupsAnswer]);

type Answer = z.output<typeof pairOrGroups>;

/** Stages that no policy decides say nothing where they pass. */
export function briefConnectivity(answer: Answer): Readonly<Record<string, unknown>> {
  if (!('steps' in answer)) return answer;
  const policy = new Set<string>(['delegation_bound', 'egress', 'ingress']);
  const steps = answer.steps.filter(({ stage, result }) => result !== 'pass' || policy.has(stage));
  return { ...answer, steps };
}

type Query = z.output<z.ZodObject<typeof groupQuery>> & {
  readonly at?: string | undefined;
  readonly snapshot_id?: string | undefined;
};

/** The answer to a question about one pair, or about groups. */
export async function answerConnectivity(query: Query, { services, workspace }: CallContext<ComputeServices>) {
  const asked = withProtocol(query);
  const { src, dst, cursor } = asked;
  if (asksGroups(asked) || src === undefined || dst === undefined) return reachGroups(services, workspace, asked);
  if (cursor !== undefined) {
    const detail = 'Only questions about several peers have pages.';
    throw invalidInput([{ pointer: '/cursor', detail }], `/cursor: ${detail}`);
  }
  return connectivity(services, workspace, { ...asked, src, dst });
}
