import { z } from 'zod';
import { schemaNames } from '../base/schema-names.ts';
import { lineOfText, TEXT_LIMITS } from '../base/text.ts';
import { parseCidr } from './cidr.ts';
import { LARGEST_PREFIX } from './free-block.ts';
import type { NetworkSpec } from './resources.ts';

/** Smaller blocks hold no two peers. */
const SMALLEST_PREFIX = 30;
/** IPv6 asks for at least 1280 (RFC 8200, 5); WireGuard in Ethernet carries 1420, in jumbo frames up to 8920. */
const MTU = { least: 1280, most: 8_920 };

export const cidrSchema = lineOfText(TEXT_LIMITS.cidr).superRefine((text, context) => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message });
  const range = parseCidr(text);
  if (range?.family !== 4) return refuse('an IPv4 block such as 10.96.0.0/24 is needed');
  const prefix = Number(text.split('/')[1]);
  if (prefix < LARGEST_PREFIX || prefix > SMALLEST_PREFIX) {
    return refuse(`the prefix of a network is ${LARGEST_PREFIX} to ${SMALLEST_PREFIX}`);
  }
  const [host = ''] = text.split('/');
  const value = host.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  if (BigInt(value) !== range.from) refuse('the block must begin at its first address, such as 10.96.0.0/24');
});

/** `spec` of a MeshNetwork (docs/policy.md#meshnetwork). */
export const networkSpecSchema = z
  .strictObject({
    cidr: cidrSchema.describe('Block of its addresses'),
    mtu: z.int().min(MTU.least).max(MTU.most).default(MTU.least),
    defaultAction: z
      .enum(['ALLOW', 'DENY'], { error: 'defaultAction is ALLOW or DENY' })
      .default('ALLOW')
      .describe('Where no policy applies'),
  })
  .register(schemaNames, { name: 'NetworkSpec' }) satisfies z.ZodType<NetworkSpec>;
