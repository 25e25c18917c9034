import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  applyDelta,
  encodeGraphMessage,
  type FirewallEntry,
  type FullGraph,
  firewallDigest,
  type GraphPeer,
  sortedPeers,
  sortedRules,
} from './graph.ts';
import { deltaOf } from './graph-delta.testkit.ts';

const instant = fc.constantFrom('2026-11-21T03:00:00.000Z', '2026-11-22T03:00:00.000Z');
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const defined = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;

const peer: fc.Arbitrary<GraphPeer> = fc
  .record({ n: fc.integer({ min: 1, max: 12 }), key: fc.constantFrom('A', 'B'), expiresAt: optional(instant) })
  .map(({ n, key, expiresAt }) =>
    defined({
      id: `p_${n}`,
      name: `peer-${n}`,
      publicKey: key,
      address: `10.96.0.${n}`,
      allowedIps: [`10.96.0.${n}/32`],
      expiresAt,
    } as GraphPeer),
  );
const entry: fc.Arbitrary<FirewallEntry> = fc
  .record({
    cidr: fc.constantFrom('10.96.0.1/32', '10.96.0.2/32', '10.96.0.3/32'),
    protocol: fc.constantFrom('ALL', 'TCP', 'UDP', 'ICMP'),
    from: optional(fc.integer({ min: 1, max: 3 })),
    to: optional(fc.integer({ min: 3, max: 5 })),
    expiresAt: optional(instant),
  })
  .map((fields) => defined(fields as FirewallEntry));
const entries = fc.uniqueArray(entry, { selector: (value) => JSON.stringify(value), maxLength: 12 });

const graph = (version: number): fc.Arbitrary<FullGraph> =>
  fc
    .record({ peers: fc.uniqueArray(peer, { selector: ({ id }) => id }), in: entries, out: entries })
    .map(({ peers, ...rules }) => {
      const full = sortedRules(rules);
      return {
        kind: 'full',
        epoch: 'e1',
        version,
        reason: 'policy_change',
        self: { id: 'p_self', name: 'self', address: '10.96.0.200', cidr: '10.96.0.0/24', phase: 'ready' },
        peers: sortedPeers(peers),
        firewall: { digest: firewallDigest(full), full },
        relay: null,
        stun: [],
        checkpoint: null,
      };
    });

test('a delta applied to the graph before it gives the graph after it', () => {
  fc.assert(
    fc.property(graph(1), graph(2), (before, after) => {
      expect(applyDelta(before, deltaOf(before, after))).toEqual(after);
    }),
    { numRuns: 500 },
  );
});

test('what is sent of a graph, whole or as a delta, reads as just that', () => {
  fc.assert(
    fc.property(graph(1), graph(2), (before, after) => {
      for (const message of [before, deltaOf(before, after), after]) {
        expect(JSON.parse(Buffer.from(encodeGraphMessage(message)).toString())).toEqual(message);
      }
    }),
  );
});

test('a delta between equal graphs says nothing', () => {
  fc.assert(
    fc.property(graph(1), (same) => {
      const { peers, firewall } = deltaOf(same, { ...same, version: 2 });
      const nothing = { in: [], out: [] };
      expect(peers).toEqual({ added: [], updated: [], removed: [] });
      expect(firewall.delta).toEqual({ added: nothing, removed: nothing });
    }),
  );
});

function twoGraphs() {
  const [one, two] = [fc.sample(graph(3), { numRuns: 1, seed: 1 })[0], fc.sample(graph(7), { numRuns: 1, seed: 2 })[0]];
  if (!one || !two) throw new Error('no samples');
  return [one, two] as const;
}

test('a delta fits a later version of the same contents, and none whose rules changed since its base', () => {
  const [one, two] = twoGraphs();
  const delta = deltaOf(one, two);
  expect(applyDelta({ ...one, version: 5 }, delta)).toEqual(two);
  const full = { in: [], out: [{ cidr: '10.96.0.99/32', protocol: 'TCP', from: 9, to: 9 } as const] };
  expect(applyDelta({ ...one, version: 5, firewall: { digest: firewallDigest(full), full } }, delta)).toBeUndefined();
});

test('a delta for a missed base, a version that is held, another epoch or rule set does not fit', () => {
  const [one, two] = twoGraphs();
  const delta = deltaOf(one, two);
  const other = { ...delta.firewall, digest: 'other' };
  expect([
    applyDelta({ ...one, version: 2 }, delta),
    applyDelta({ ...one, version: 7 }, delta),
    applyDelta({ ...one, epoch: 'e2' }, delta),
    applyDelta(one, { ...delta, firewall: other }),
  ]).toEqual([undefined, undefined, undefined, undefined]);
});
