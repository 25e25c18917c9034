import { z } from 'zod';
import { protocolSchema } from '../model/policy.ts';
import { REASON_CODES, STAGES } from './reasons.ts';

/** The shapes of connectivity answers as every face gives them (docs/policy.md#reasons-and-warnings). */

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

/** The rule or state that refuses, at one stage of the decision. */
export const blockerSchema = z.strictObject({
  stage: z.enum(STAGES),
  direction: z.enum(['egress', 'ingress']).nullable(),
  reason_code: reasonCodeSchema,
  policy: z.string().nullable(),
  rule_index: z.int().nullable(),
  known_since: z.string().optional().describe('Of a moment before the history that is kept'),
});

export const stepSchema = blockerSchema.extend({
  result: z.enum(['pass', 'fail', 'partial']),
  reason_code: reasonCodeSchema.nullable(),
  subject: z.string().describe('The end that the stage is about'),
});

export const pairRowSchema = z.object({ src: z.string(), dst: z.string(), allowed: allowedSchema });

/** A row of a network whose externals are ranges of addresses. */
export const dividedRowSchema = pairRowSchema.extend({
  partial: z.literal(true).optional().describe('some addresses of the external may use more than `allowed`'),
});
