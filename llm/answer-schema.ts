import { z } from 'zod';
import { changeInputSchema, parseChange } from '../core/intent/change-input.ts';
import type { Expectation } from '../core/intent/planner.ts';
import type { NetworkChange } from '../core/network/changes.ts';

// Strict JSON schema knows no optional fields and no maps: everything is required, absent is null, a map is a list of pairs.

const pair = z.strictObject({ key: z.string(), value: z.string() });
const selector = z.strictObject({
  matchLabels: z.array(pair),
  matchExpressions: z.array(
    z.strictObject({
      key: z.string(),
      operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
      values: z.array(z.string()),
    }),
  ),
});
const protocol = z.enum(['TCP', 'UDP', 'SCTP', 'ICMP']);
const rule = z.strictObject({
  peers: z
    .array(
      z.strictObject({
        peerSelector: selector.nullable(),
        ipBlock: z.strictObject({ cidr: z.string(), except: z.array(z.string()) }).nullable(),
      }),
    )
    .describe('Who is at the other end: each entry has exactly one of the two'),
  ports: z.array(z.strictObject({ protocol, port: z.int().nullable(), endPort: z.int().nullable() })),
});
const policy = z.strictObject({
  action: z.enum(['ALLOW', 'DENY']),
  peerSelector: selector.describe('The peers that the policy is about'),
  ingress: z.array(rule).nullable().describe('null: says nothing about connections to them'),
  egress: z.array(rule).nullable().describe('null: says nothing about connections from them'),
  expiresAt: z.string().nullable(),
});

/** What a model answers. Checked again here, because a compatible server may accept a schema and not enforce it. */
export const answerSchema = z.strictObject({
  understood: z.boolean().describe('false when the intent is unclear, ambiguous or names something unknown'),
  reason: z.string().describe('Why it is not understood; else empty'),
  questions: z.array(z.string()),
  summary: z.string().describe('One line'),
  changes: z.array(
    z.strictObject({
      action: z.enum(['create', 'update', 'delete']),
      resource: z.enum(['MeshPolicy', 'MeshPeer']),
      name: z.string(),
      policy: policy.nullable().describe('For create and update of a MeshPolicy'),
      labels: z.array(pair).nullable().describe('For update of a MeshPeer: all of its labels'),
    }),
  ),
  expectations: z.array(
    z.strictObject({
      src: z.string().describe('A peer by name, label=value, or *'),
      dst: z.string(),
      except: z.array(z.string()).describe('Sources left out, in the same form'),
      protocol: protocol.nullable(),
      port: z.int().nullable(),
      endPort: z.int().nullable(),
      expect: z.enum(['allow', 'deny']),
    }),
  ),
});
export type ModelAnswer = z.output<typeof answerSchema>;

type Selector = z.output<typeof selector>;
type Rule = z.output<typeof rule>;

/** Typed changes of an answer, or what is wrong with them. */
export function changesOf({ changes }: ModelAnswer): { changes: NetworkChange[]; issues: string[] } {
  const issues: string[] = [];
  const typed = changes.flatMap(({ action, resource, name, policy, labels }, index) => {
    const spec = resource === 'MeshPeer' ? labels && { labels: mapOf(labels) } : policy && policySpecOf(policy);
    const input = changeInputSchema.safeParse({ action, resource, name, ...(spec && action !== 'delete' && { spec }) });
    if (!input.success) {
      issues.push(...input.error.issues.map(({ path, message }) => `changes/${index}/${path.join('/')}: ${message}`));
      return [];
    }
    const parsed = parseChange(input.data);
    if (parsed.success) return [parsed.data];
    issues.push(...parsed.errors.map(({ pointer, detail }) => `changes/${index}${pointer}: ${detail}`));
    return [];
  });
  return { changes: typed, issues };
}

export function expectationsOf({ expectations }: ModelAnswer): Expectation[] {
  return expectations.map(({ protocol: named, port, endPort, except, ...rest }) => ({
    ...rest,
    ...(except.length > 0 && { except }),
    ...(named !== null && { protocol: named }),
    ...(port !== null && { port }),
    ...(endPort !== null && { endPort }),
  }));
}

function policySpecOf({ action, peerSelector, ingress, egress, expiresAt }: z.output<typeof policy>) {
  return {
    action,
    peerSelector: selectorOf(peerSelector),
    ...(ingress && { ingress: ingress.map((one) => ruleOf('from', one)) }),
    ...(egress && { egress: egress.map((one) => ruleOf('to', one)) }),
    ...(expiresAt !== null && { expiresAt }),
  };
}

function ruleOf(key: 'from' | 'to', { peers, ports }: Rule) {
  const entries = peers.map(({ peerSelector, ipBlock }) => ({
    ...(peerSelector && { peerSelector: selectorOf(peerSelector) }),
    ...(ipBlock && { ipBlock }),
  }));
  return {
    [key]: entries,
    ports: ports.map(({ protocol: named, port, endPort }) => ({
      protocol: named,
      ...(port !== null && { port }),
      ...(endPort !== null && { endPort }),
    })),
  };
}

function selectorOf({ matchLabels, matchExpressions }: Selector) {
  return {
    ...(matchLabels.length > 0 && { matchLabels: mapOf(matchLabels) }),
    ...(matchExpressions.length > 0 && {
      matchExpressions: matchExpressions.map(({ values, ...rest }) => ({
        ...rest,
        ...(values.length > 0 && { values }),
      })),
    }),
  };
}

function mapOf(pairs: readonly z.output<typeof pair>[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, value]));
}
