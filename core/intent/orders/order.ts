import { z } from 'zod';
import { listOf } from '../../base/list.ts';
import { schemaNames } from '../../base/schema-names.ts';
import { lineOfText, TEXT_LIMITS } from '../../base/text.ts';

export const MAX_ORDERS = 20;
const MAX_WORDS = 50;
const MAX_PORTS = 50;

const who = lineOfText(TEXT_LIMITS.term).trim().min(1);
const whoList = listOf(who, MAX_WORDS);
const time = lineOfText(TEXT_LIMITS.id).trim().min(1);

export const VERBS = ['allow', 'deny', 'only', 'remove'] as const;
export type Verb = (typeof VERBS)[number];

/** An order as callers send it: strings, lists and enums alone, so that every client can fill it in. */
export const orderInputSchema = z
  .strictObject({
    do: z.enum(VERBS).describe('only: `from` and nobody else. remove: what policies give'),
    from: whoList.min(1).describe('Name, id, address, CIDR, a=b,c!=d (labels), network=name, peers, outside, anyone'),
    to: whoList.min(1).describe('As from'),
    except_from: whoList.optional().describe('Left out of from'),
    except_to: whoList.optional().describe('Left out of to'),
    side: z.enum(['to', 'from']).optional().describe('only: whose other connections close'),
    ports: listOf(time, MAX_PORTS).min(1).optional().describe('tcp/5432, udp/60-70, icmp, !tcp/22; none: all'),
    both_ways: z.boolean().optional().describe('Also back'),
    for: time.optional().describe('2h'),
    until: time.optional().describe('2030-01-31T18:00'),
    starts: time.optional().describe('Refused yet'),
  })
  .register(schemaNames, { name: 'Order' });
export type OrderInput = z.output<typeof orderInputSchema>;

/**
 * An order that was read: peers are ids, so that a rename does not move it; `both_ways` has become two orders. It is stored
 * with plans and workflows.
 */
export interface Order {
  readonly do: Verb;
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly exceptFrom?: readonly string[];
  readonly exceptTo?: readonly string[];
  readonly side?: 'to' | 'from';
  /** Absent for every port and ICMP. */
  readonly ports?: readonly string[];
  /** ISO 8601. */
  readonly expiresAt?: string;
  /** The order in words, with the names of its peers. */
  readonly text: string;
}

/** Returns an order in words, as callers sent it. */
export function orderText(
  input: Omit<OrderInput, 'both_ways' | 'for' | 'until' | 'starts'>,
  expiresAt?: string,
): string {
  const { do: verb, from, to, except_from = [], except_to = [], side, ports = [] } = input;
  const but = (left: readonly string[]) => (left.length === 0 ? '' : ` except ${left.join(', ')}`);
  const on = ports.length === 0 ? '' : ` on ${ports.join(', ')}`;
  const end = expiresAt === undefined ? '' : ` until ${expiresAt}`;
  const of = verb === 'only' && side === 'from' ? ', and nowhere else' : '';
  return `${verb} ${from.join(', ')}${but(except_from)} to ${to.join(', ')}${but(except_to)}${on}${of}${end}`;
}
