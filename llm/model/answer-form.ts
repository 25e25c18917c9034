import { z } from 'zod';
import { RISK_LEVELS } from '../../core/intent/verify/risk-table.ts';
import type { Subgraph } from '../retrieval/subgraph.ts';

/** In place of an enumeration without members, which no schema may have; it is no name, so it means nothing. */
const NOTHING = '(none)';

const protocol = z.enum(['TCP', 'UDP', 'SCTP', 'ICMP']);
const port = z.strictObject({ protocol, port: z.int().nullable(), endPort: z.int().nullable() });

/**
 * What a model may answer to one question. Every peer, label, policy, network and range is an enumeration of what it was
 * shown, so none can be invented. Strict JSON schema knows no optional fields and no maps: everything is required, absent
 * is null, a label is `key=value`.
 */
export function answerForm({ peers, labels, policies, networks, cidrs, newLabels }: Subgraph) {
  const pairs = labels.map(({ label }) => label);
  const keys = [...new Set(pairs.map((pair) => pair.slice(0, pair.indexOf('='))))];
  const peer = names(peers.map(({ name }) => name));
  const pair = names(pairs);
  const key = names(keys);
  const network = names(networks.map(({ name }) => name));
  const cidr = names(cidrs);
  const who = names(['*', ...pairs, ...peers.map(({ name }) => name)]);
  const selector = z.strictObject({
    peer: peer.nullable().describe('One peer alone; then the lists are empty'),
    labels: z.array(pair).describe('All of them must be carried; none of them and no peer: every peer'),
    expressions: z.array(
      z.strictObject({
        key,
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        labels: z.array(pair).describe('Of this key, for In and NotIn'),
      }),
    ),
  });
  const rule = z.strictObject({
    peers: z
      .array(
        z.strictObject({
          selector: selector.nullable(),
          ipBlock: z.strictObject({ cidr, except: z.array(cidr) }).nullable(),
        }),
      )
      .describe('Who is at the other end: each entry has exactly one of the two; no entry: anyone'),
    ports: z.array(port).describe('None: every port'),
  });
  const spec = z.strictObject({
    action: z.enum(['ALLOW', 'DENY']),
    subject: selector,
    network: network.nullable().describe('null: in every network'),
    ingress: z.array(rule).nullable().describe('null: says nothing about connections to them'),
    egress: z.array(rule).nullable().describe('null: says nothing about connections from them'),
    expiresAt: z.string().nullable().describe('When it ends, ISO 8601; null: never'),
  });
  const kinds = {
    create: z.strictObject({ do: z.literal('create_policy'), name: z.string(), spec }),
    update: z.strictObject({
      do: z.literal('replace_policy'),
      policy: names(policies.flatMap(({ name, spec: shown }) => (shown ? [name] : []))),
      spec,
    }),
    delete: z.strictObject({ do: z.literal('delete_policy'), policy: names(policies.map(({ name }) => name)) }),
    label: z.strictObject({
      do: z.literal('label_peer'),
      peer,
      set: z.array(names([...pairs, ...newLabels])),
      remove: z.array(key),
    }),
    move: z.strictObject({ do: z.literal('move_peer'), peer, network }),
    default: z.strictObject({ do: z.literal('set_default_action'), network, action: z.enum(['ALLOW', 'DENY']) }),
  };
  return z.strictObject({
    understood: z.boolean().describe('false when the request is unclear, ambiguous or names something unknown'),
    refusal: z.string().describe('Why it is not understood or not done; else empty'),
    questions: z.array(z.string()).describe('What the person should answer, if anything'),
    summary: z.string().describe('One line'),
    reasoning: z.string().describe('Why these changes, in a few sentences'),
    risk: z.enum(RISK_LEVELS),
    changes: z.array(
      z.discriminatedUnion('do', [kinds.create, kinds.update, kinds.delete, kinds.label, kinds.move, kinds.default]),
    ),
    expectations: z
      .array(
        z.strictObject({
          src: who,
          dst: who,
          except: z.array(who).describe('Sources left out'),
          protocol: protocol.nullable(),
          port: z.int().nullable(),
          endPort: z.int().nullable(),
          expect: z.enum(['allow', 'deny']),
        }),
      )
      .describe('What must hold afterwards: all that opens, and what is to be closed'),
  });
}

export type AnswerForm = ReturnType<typeof answerForm>;
export type ModelAnswer = z.output<AnswerForm>;
type CreatedPolicy = Extract<ModelAnswer['changes'][number], { do: 'create_policy' }>;
export type AnswerPolicy = CreatedPolicy['spec'];
export type AnswerSelector = AnswerPolicy['subject'];
export type AnswerRule = NonNullable<AnswerPolicy['ingress']>[number];

/** The form as strict mode takes it: `anyOf` for alternatives, nothing beside a `$ref`, no bounds of numbers. */
export function jsonSchemaOf(form: AnswerForm): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(form, { target: 'draft-2020-12', reused: 'ref' });
  return strict(schema) as Record<string, unknown>;
}

function strict(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(strict);
  if (typeof node !== 'object' || node === null) return node;
  if ('$ref' in node) return { $ref: node.$ref };
  const { oneOf, minimum: _min, maximum: _max, ...rest } = node as Record<string, unknown>;
  const entries = Object.entries({ ...rest, ...(oneOf !== undefined && { anyOf: oneOf }) });
  return Object.fromEntries(entries.map(([key, value]) => [key, strict(value)]));
}

export type ReadAnswer =
  | { readonly answer: ModelAnswer }
  /** `outside`: it named what it was not shown; no second try makes that trustworthy. */
  | { readonly answer?: undefined; readonly outside: boolean; readonly issues: readonly string[] };

/** Reads an answer by the form it was asked in: a compatible server may accept a schema and not enforce it. */
export function readAnswer(text: string, form: AnswerForm): ReadAnswer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { outside: false, issues: ['the answer is not one JSON object'] };
  }
  const parsed = form.safeParse(value);
  if (parsed.success) return { answer: parsed.data };
  const { issues } = parsed.error;
  return {
    outside: issues.some(({ code, path }) => ENUMERATED.has(code) && valueAt(value, path) !== undefined),
    issues: issues.map(({ path, message }) => `${path.join('/')}: ${message}`),
  };
}

const ENUMERATED: ReadonlySet<string> = new Set(['invalid_value', 'invalid_union']);

/** What is not there at all is forgotten, not invented. */
function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value);
}

function names(values: readonly string[]) {
  return z.enum(values.length > 0 ? [...new Set(values)] : [NOTHING]);
}
