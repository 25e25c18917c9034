import { z } from 'zod';
import { listOf } from '../../base/list.ts';
import { lineOfText, TEXT_LIMITS } from '../../base/text.ts';
import { protocolSchema } from '../../model/policy.ts';
import type { Expectation } from '../verify/expectation.ts';

export const MAX_EXPECTATIONS = 50;

const term = lineOfText(TEXT_LIMITS.term).min(1);
const port = z.int().min(1).max(65_535);

/** An expectation as callers send it. */
export const expectationInputSchema = z
  .strictObject({
    src: term.describe('A peer, label=value, a CIDR, outside, or * for every peer'),
    dst: term,
    except: listOf(term, 20).optional(),
    protocol: protocolSchema.optional().describe('TCP where a port is named; else everything'),
    port: port.optional(),
    endPort: port.optional(),
    expect: z.enum(['allow', 'deny']),
  })
  .refine(({ protocol, port: first }) => protocol !== 'ICMP' || first === undefined, {
    error: 'ICMP has no ports',
    path: ['port'],
  })
  .refine(({ port: first, endPort }) => endPort === undefined || (first !== undefined && endPort >= first), {
    error: 'endPort is at least port',
    path: ['endPort'],
  });

/** A port alone is a TCP port, as in a policy. */
export function expectationOf({
  src,
  dst,
  except,
  protocol,
  port: first,
  endPort,
  expect,
}: z.output<typeof expectationInputSchema>): Expectation {
  return {
    src,
    dst,
    expect,
    ...(except && { except }),
    ...(protocol && { protocol }),
    ...(first !== undefined && { protocol: protocol ?? 'TCP', port: first }),
    ...(endPort !== undefined && { endPort }),
  };
}
