import { z } from 'zod';
import { listOf } from '../../base/list.ts';
import { schemaNames } from '../../base/schema-names.ts';
import { lineOfText, TEXT_LIMITS } from '../../base/text.ts';

export const MAX_ORDERS = 20;
const MAX_WORDS = 50;
const MAX_PORTS = 50;
const MAX_THROUGH = 10;

const who = lineOfText(TEXT_LIMITS.term).trim().min(1);
const whoList = listOf(who, MAX_WORDS);
const time = lineOfText(TEXT_LIMITS.id).trim().min(1);
const policy = lineOfText(TEXT_LIMITS.reference).trim().min(1);
/** YAML and JSON read `[8080]` as a number. */
const port = z.preprocess((value) => (typeof value === 'number' ? String(value) : value), time);

export const VERBS = ['allow', 'deny', 'only', 'remove'] as const;
export type Verb = (typeof VERBS)[number];

/** An order as callers send it: strings, lists and enums alone, so that every client can fill it in. */
export const orderInputSchema = z
  .strictObject({
    do: z.enum(VERBS).describe('Its meaning stands in the description of the tool'),
    from: whoList.min(1).describe('Name, id, address, CIDR, a=b,c!=d (labels), network=name, peers, outside, anyone'),
    to: whoList.min(1).describe('As from'),
    except_from: whoList.optional().describe('Left out of from'),
    except_to: whoList.optional().describe('Left out of to'),
    side: z
      .enum(['to', 'from'])
      .optional()
      .describe('For only: from closes what else `from` reaches; to (default) who else reaches `to`'),
    ports: listOf(port, MAX_PORTS)
      .min(1)
      .optional()
      .describe('tcp/5432, udp/60-70, icmp; !tcp/22 leaves one out; none: all'),
    both_ways: z.boolean().optional().describe('Also from `to` to `from`'),
    starts: time.optional().describe('Begins at 2030-01-31T08:00'),
    for: time.optional().describe('Ends by itself after 30m, 2h, 7d'),
    until: time.optional().describe('Ends at 2030-01-31T18:00, by the clocks of the workspace'),
    through: listOf(policy, MAX_THROUGH).optional().describe('For allow: names of DENY policies to make a hole in'),
  })
  .register(schemaNames, { name: 'Order' });
export type OrderInput = z.output<typeof orderInputSchema>;

/** Requirements after a change, in the form of orders; a tool that takes both describes these fields once. */
export const holdInputSchema = z
  .strictObject({
    do: z.enum(VERBS),
    from: whoList.min(1),
    to: whoList.min(1),
    except_from: whoList.optional(),
    except_to: whoList.optional(),
    side: z.enum(['to', 'from']).optional(),
    ports: listOf(port, MAX_PORTS).min(1).optional(),
    both_ways: z.boolean().optional(),
  })
  .register(schemaNames, { name: 'Hold' });

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
  /** ISO 8601; absent for one that begins now. */
  readonly startsAt?: string;
  /** ISO 8601. */
  readonly expiresAt?: string;
  /** Names of the DENY policies in which an allow makes a hole. */
  readonly through?: readonly string[];
  /** The order in words, with the names of its peers. */
  readonly text: string;
}

/** Returns an order in words, as callers sent it, with its begin and its end. */
export function orderText(
  input: Omit<OrderInput, 'both_ways' | 'starts' | 'for' | 'until'>,
  { startsAt, expiresAt }: Pick<Order, 'startsAt' | 'expiresAt'> = {},
): string {
  const { do: verb, from, to, except_from = [], except_to = [], side, ports = [], through = [] } = input;
  const but = (left: readonly string[]) => (left.length === 0 ? '' : ` except ${left.join(', ')}`);
  const on = ports.length === 0 ? '' : ` on ${ports.join(', ')}`;
  const begin = startsAt === undefined ? '' : ` beginning ${startsAt}`;
  const end = expiresAt === undefined ? '' : ` until ${expiresAt}`;
  const of = verb === 'only' && side === 'from' ? ', and nowhere else' : '';
  const hole = through.length === 0 ? '' : ` through ${through.join(', ')}`;
  return `${verb} ${from.join(', ')}${but(except_from)} to ${to.join(', ')}${but(except_to)}${on}${of}${hole}${begin}${end}`;
}
