import { z } from 'zod';
import { protocolSchema } from '../network/policy.ts';
import { lineOfText, TEXT_LIMITS } from '../text.ts';
import type { Expectation } from './planner.ts';

export const MAX_EXPECTATIONS = 50;

const term = lineOfText(TEXT_LIMITS.term).min(1);
const port = z.int().min(1).max(65_535);

/** An expectation as callers send it. */
export const expectationInputSchema = z
  .strictObject({
    src: term.describe('A peer, label=value, or * for every peer'),
    dst: term,
    except: z.array(term).max(20).optional(),
    protocol: protocolSchema.optional(),
    port: port.optional(),
    endPort: port.optional(),
    expect: z.enum(['allow', 'deny']),
  })
  .refine(({ protocol, port: first }) => first === undefined || (protocol !== undefined && protocol !== 'ICMP'), {
    error: 'A port needs the protocol TCP, UDP or SCTP',
    path: ['protocol'],
  })
  .refine(({ port: first, endPort }) => endPort === undefined || (first !== undefined && endPort >= first), {
    error: 'endPort is at least port',
    path: ['endPort'],
  });

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
    ...(first !== undefined && { port: first }),
    ...(endPort !== undefined && { endPort }),
  };
}
