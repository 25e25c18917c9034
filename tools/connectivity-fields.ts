import { z } from 'zod';
import { protocolSchema } from '../core/network/policy.ts';
import { lineOfText, TEXT_LIMITS } from '../core/text.ts';

/** A pair and what is asked of it; the same fields on every connectivity question. */
export const pairQuery = {
  src: lineOfText(TEXT_LIMITS.reference).min(1).describe('Peer that opens the connection: name or id'),
  dst: lineOfText(TEXT_LIMITS.reference).min(1).describe('Peer it is opened to'),
  protocol: protocolSchema.optional(),
  port: z.int().min(1).max(65_535).optional(),
};

/** A port without a protocol means TCP, as in a policy. */
export function withProtocol<
  Q extends { readonly protocol?: z.output<typeof protocolSchema> | undefined; readonly port?: number | undefined },
>(query: Q): Q {
  return query.protocol === undefined && query.port !== undefined ? { ...query, protocol: 'TCP' as const } : query;
}

export const allowedPorts = z.union([
  z.literal('ALL'),
  z.array(z.strictObject({ protocol: protocolSchema, from: z.int().optional(), to: z.int().optional() })),
]);

const verdict = z.enum(['reachable', 'unreachable', 'partial']);
const presence = z.enum(['online', 'offline', 'unknown']);
const row = z.looseObject({}).describe('stage, direction, reason_code, policy, rule_index');

export const wouldFixField = z
  .array(z.looseObject({}))
  .describe('What to do, in this order; all of it together was computed to open what was asked');

export const connectivityAnswer = z.strictObject({
  verdict: z.enum(['reachable', 'unreachable', 'partial', 'undetermined']).describe('By policy alone; see presence'),
  presence: z.strictObject({ src: presence, dst: presence }),
  usable: z.boolean().describe('Allowed, and both ends online'),
  at: z.string(),
  snapshot_id: z.string().nullable(),
  revision: z.int().nullable(),
  valid_from: z.string().nullable(),
  valid_to: z.string().nullable(),
  steps: z.array(row),
  allowed: allowedPorts,
  blocked_by: z.array(row),
  would_fix: wouldFixField,
  now: z
    .strictObject({ verdict, changed_by: z.looseObject({}).nullable() })
    .describe('The verdict today and the commit that changed it'),
});
