import { z } from 'zod';
import { VERBS } from '../../core/intent/orders/order.ts';
import { RISK_LEVELS } from '../../core/intent/verify/risk-table.ts';
import type { Subgraph } from '../retrieval/subgraph.ts';

/** In place of an enumeration without members, which no schema may have; it is no name, so it means nothing. */
const NOTHING = '(none)';
/** Words of an order that are no names. */
const EVERYBODY = ['peers', 'outside', 'anyone'] as const;

/**
 * Returns the form of an answer to one question. Every peer, label, policy, network and range is an enumeration of those that
 * the model was shown, so none can be invented. Strict JSON schema knows no optional fields: what is absent is null or empty.
 */
export function answerForm({ peers, labels, policies, networks, cidrs, newLabels }: Subgraph) {
  const pairs = labels.map(({ label }) => label);
  const peerNames = peers.map(({ name }) => name);
  const networkNames = networks.map(({ name }) => name);
  const pair = names(pairs);
  // A peer that is called as such a word would be taken for it.
  const named = peerNames.filter((name) => !(EVERYBODY as readonly string[]).includes(name));
  const inNetwork = networkNames.map((name) => `network=${name}`);
  const who = z.array(names([...EVERYBODY, ...pairs, ...inNetwork, ...cidrs, ...named])).default([]);
  const also = z.array(pair).default([]);
  const order = z.strictObject({
    do: z.enum(VERBS),
    from: who.describe('All of these'),
    from_with: also.describe('Labels that from must bear as well'),
    except_from: who,
    to: who,
    to_with: also.describe('Labels that to must bear as well'),
    except_to: who,
    ports: z.array(z.string()).default([]).describe('tcp/5432, udp/60-70, icmp, !tcp/22; none: every port'),
    side: z.enum(['to', 'from']).nullable().default(null).describe('For only; null: to'),
    both_ways: z.boolean().default(false),
    starts: z.string().nullable().default(null).describe('2030-01-31T08:00; null: now'),
    for: z.string().nullable().default(null).describe('2h, 30m, 7d'),
    until: z.string().nullable().default(null).describe('2030-01-31T18:00'),
  });
  const edit = z.strictObject({
    peer: names(peerNames),
    labels: z.array(names([...pairs, ...newLabels])).default([]),
    clear: z
      .array(names(pairs.map((label) => label.slice(0, label.indexOf('=')))))
      .default([])
      .describe('Keys of labels to take away'),
    network: names(networkNames).nullable().default(null).describe('Moves it there'),
  });
  return z.strictObject({
    understood: z.boolean().default(true).describe('false when the request is unclear or names something unknown'),
    refusal: z.string().default('').describe('Why it is not understood or not done; else empty'),
    questions: z.array(z.string()).default([]).describe('What the person should answer, if anything'),
    reasoning: z.string().default('').describe('Why these orders, in a few sentences'),
    risk: z.enum(RISK_LEVELS).default('low'),
    orders: z.array(order).default([]),
    set: z.array(edit).default([]).describe('Labels and networks of peers'),
    delete: z
      .array(names([...policies.map(({ name }) => `policy/${name}`), ...networkNames.map((name) => `network/${name}`)]))
      .default([]),
    documents: z.array(z.string()).default([]).describe('Custom resources as JSON, for what nothing else here says'),
  });
}

export type AnswerForm = ReturnType<typeof answerForm>;
export type ModelAnswer = z.output<AnswerForm>;

/** Returns the form as strict mode takes it: `anyOf` for alternatives, nothing beside a `$ref`, no defaults. */
export function jsonSchemaOf(form: AnswerForm): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(form, { target: 'draft-2020-12', reused: 'ref' });
  return strict(schema) as Record<string, unknown>;
}

function strict(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(strict);
  if (typeof node !== 'object' || node === null) return node;
  if ('$ref' in node) return { $ref: node.$ref };
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key]) => key !== 'default')
      .map(([key, value]) => [key, strict(value)]),
  );
}

function names(values: readonly string[]) {
  return z.enum(values.length > 0 ? [...new Set(values)] : [NOTHING]);
}
