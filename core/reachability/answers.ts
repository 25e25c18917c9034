import { z } from 'zod';
import { protocolSchema } from '../network/policy.ts';
import type { Direction } from './model.ts';
import { REASON_CODES, STAGES } from './reasons.ts';

/** The shapes of connectivity answers as every face gives them (DESIGN 5.7). */

const portNumber = z.int().min(1).max(65_535);

/** ICMP has no `from` and `to`. */
export const portRangeSchema = z.object({
  protocol: protocolSchema,
  from: portNumber.optional(),
  to: portNumber.optional(),
});

export const allowedSchema = z
  .union([z.literal('ALL'), z.array(portRangeSchema)])
  .describe('"ALL", or the ports that are allowed; an empty list allows nothing');

export const verdictSchema = z.enum(['reachable', 'unreachable', 'partial']);
export const reasonCodeSchema = z.enum(REASON_CODES);

const place = {
  policy: z.string().nullable().describe('the policy that decided, where one did'),
  rule_index: z.int().nullable().describe('its rule, counted from 0 in the list of that direction'),
};
const direction = z.enum(['egress', 'ingress'] satisfies Direction[]);

export const stepSchema = z.object({
  stage: z.enum(STAGES),
  direction: direction.nullable(),
  result: z.enum(['pass', 'fail', 'partial']),
  reason_code: reasonCodeSchema.nullable(),
  subject: z.string().describe('the peer that this stage is about'),
  ...place,
});

export const blockerSchema = z.object({
  stage: z.enum(STAGES),
  direction: direction.nullable(),
  reason_code: reasonCodeSchema,
  ...place,
});

/** `spec` is a whole MeshPolicy spec; it is left open here so that tool schemas stay small. */
export const fixSchema = z.object({
  change: z.enum(['add_policy', 'remove_rule']),
  policy: z.string().nullable(),
  direction,
  rule_index: z.int().optional(),
  spec: z.record(z.string(), z.unknown()).optional(),
});

export const pairRowSchema = z.object({ src: z.string(), dst: z.string(), allowed: allowedSchema });
