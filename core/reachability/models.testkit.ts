import fc from 'fast-check';
import type { EgressRule, PeerEntry, PolicySpec, PortEntry, Protocol, Selector } from '../model/policy.ts';
import type { PairRow } from './matrix.ts';
import type { NetworkModel, PeerInput } from './model.ts';

/** 2026-01-01T00:00:00Z. */
export const NOW = 1_767_225_600_000;

const KEYS = ['role', 'env', 'tier'];
const VALUES = ['a', 'b', 'c'];
const BLOCKS = [
  '0.0.0.0/0',
  '10.96.0.0/24',
  '10.96.0.0/30',
  '10.96.0.4/31',
  '203.0.113.0/24',
  '203.0.113.128/25',
  '::/0',
];

const label = fc.constantFrom(...VALUES);
const labels = fc.dictionary(fc.constantFrom(...KEYS), label, { maxKeys: 3 });
const expression = fc.oneof(
  fc.record({
    key: fc.constantFrom(...KEYS),
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.uniqueArray(label, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ key: fc.constantFrom(...KEYS), operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
);
/** Ids of the first peers of a model, the name of one that has an id, and what nobody has. */
const peerIds = fc.uniqueArray(fc.constantFrom('id0', 'id1', 'p2', 'p3', 'p0', 'gone'), { maxLength: 3 });
const selector: fc.Arbitrary<Selector> = fc.oneof(
  fc.constant({}),
  fc.record({ peers: peerIds }),
  fc.record({ notPeers: peerIds }),
  fc.record({ peers: peerIds, notPeers: peerIds, matchLabels: labels }),
  fc.record({ matchLabels: labels }),
  fc.record({ matchExpressions: fc.array(expression, { minLength: 1, maxLength: 2 }) }),
);
interface Block {
  cidr: string;
  except?: string[];
}
const ipBlock: fc.Arbitrary<Block> = fc.oneof(
  fc.constantFrom(...BLOCKS).map((cidr) => ({ cidr })),
  fc.constant<Block>({ cidr: '10.96.0.0/24', except: ['10.96.0.0/30'] }),
  fc.constant<Block>({ cidr: '0.0.0.0/0', except: ['10.96.0.4/31', '203.0.113.128/25'] }),
);
const entry: fc.Arbitrary<PeerEntry> = fc.oneof(
  { weight: 4, arbitrary: selector.map((peerSelector) => ({ peerSelector })) },
  { weight: 2, arbitrary: ipBlock.map((block) => ({ ipBlock: block })) },
  { weight: 1, arbitrary: fc.constant('*' as const) },
);
const transport = fc.constantFrom('TCP' as const, 'UDP' as const, 'SCTP' as const);
const port: fc.Arbitrary<PortEntry> = fc.oneof(
  fc.constant({}),
  fc.constant({ protocol: 'ICMP' as const }),
  fc.record({ protocol: transport }),
  fc.record({ protocol: transport, port: fc.constantFrom(1, 80, 81, 443, 65_535) }),
  fc.constant({ port: 80, endPort: 443 }),
  fc.constant({ protocol: 'UDP' as const, port: 81, endPort: 65_535 }),
);
const ports = fc.option(fc.array(port, { maxLength: 2 }), { nil: undefined });
const peers = fc.option(fc.array(entry, { maxLength: 2 }), { nil: undefined });
const ingress = fc.array(fc.record({ from: peers, ports }), { maxLength: 2 });
const egressRule: fc.Arbitrary<EgressRule> = fc.record({ to: peers, ports });
const egress = fc.array(egressRule, { maxLength: 2 });

export const policySpec: fc.Arbitrary<PolicySpec> = fc
  .record({
    action: fc.constantFrom('ALLOW' as const, 'ALLOW' as const, 'DENY' as const),
    peerSelector: fc.option(selector, { nil: undefined }),
    network: fc.option(fc.constantFrom('n1', 'n2'), { nil: undefined, freq: 3 }),
    ingress: fc.option(ingress, { nil: undefined }),
    egress: fc.option(egress, { nil: undefined }),
    expiresAt: fc.option(fc.constantFrom('2025-12-31T23:59:59Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'), {
      nil: undefined,
      freq: 6,
    }),
  })
  .map((spec) => JSON.parse(JSON.stringify(spec)));

const bound: fc.Arbitrary<PeerInput['bound']> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 2, arbitrary: fc.nat(6).map((i) => ({ ancestor: `p${i}` })) },
  { weight: 1, arbitrary: fc.array(egressRule, { maxLength: 2 }).map((reach) => ({ reach })) },
);

const peer = fc.record({
  labels,
  network: fc.constantFrom('n1', 'n1', 'n1', 'n2'),
  hasAddress: fc.boolean(),
  phase: fc.constantFrom(undefined, 'ready', 'ready', 'ready', 'pending', 'revoked', 'expired'),
  expiresAt: fc.constantFrom(undefined, undefined, undefined, NOW - 1, NOW, NOW + 1),
  bound,
});

/** Small networks in which every feature of the policy language meets the others. */
export const networkModel: fc.Arbitrary<NetworkModel> = fc
  .record({
    defaults: fc.tuple(
      fc.constantFrom('ALLOW' as const, 'ALLOW' as const, 'DENY' as const),
      fc.constant('ALLOW' as const),
    ),
    peers: fc.array(peer, { minLength: 1, maxLength: 7 }),
    policies: fc.array(policySpec, { maxLength: 5 }),
    externals: fc.subarray(['0.0.0.0/0', '203.0.113.0/24', '203.0.113.200/32', '10.96.0.4/32', '8.8.8.8/32'], {
      maxLength: 3,
    }),
  })
  .map(({ defaults, peers: made, policies, externals }) => ({
    networks: defaults.map((defaultAction, i) => ({ name: `n${i + 1}`, cidr: `10.${96 + i}.0.0/24`, defaultAction })),
    peers: made.map(({ hasAddress, ...rest }, i) => ({
      ...rest,
      name: `p${i}`,
      // The later ones have none, as in a simulation.
      ...(i < 2 && { uid: `id${i}` }),
      address: hasAddress ? `10.96.0.${i + 1}` : undefined,
      bound: withoutCycle(rest.bound, i),
    })),
    policies: policies.map((spec, i) => ({ name: `pol${i}`, spec })),
    externals: externals.map((range, i) => ({ name: `x${i}`, range })),
    now: NOW,
  }));

/** An ancestor comes before its child, as in any tree that grew. */
function withoutCycle(value: PeerInput['bound'], index: number): PeerInput['bound'] {
  if (value === undefined || !('ancestor' in value)) return value;
  return Number(value.ancestor.slice(1)) < index ? value : { ancestor: 'gone' };
}

export const PROBES: readonly (readonly [Protocol, number?])[] = [
  ['TCP', 1],
  ['TCP', 80],
  ['TCP', 82],
  ['TCP', 443],
  ['TCP', 444],
  ['UDP', 80],
  ['UDP', 81],
  ['UDP', 65_535],
  ['SCTP', 443],
  ['ICMP'],
];

export function namesOf(model: NetworkModel): string[] {
  return [...model.peers, ...(model.externals ?? [])].map(({ name }) => name);
}

/** Rows as sorted texts, so that they can be compared whatever their order. */
export function textOf(rows: Iterable<PairRow>): string[] {
  return [...rows].map(({ src, dst, allowed }) => `${src}>${dst} ${JSON.stringify(allowed)}`).sort();
}
