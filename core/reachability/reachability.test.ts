import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile, createEngine } from './engine.ts';
import { countPairs, groupRows, pairRows } from './matrix.ts';
import type { NetworkModel } from './model.ts';
import { NOW, namesOf, networkModel, PROBES } from './models.testkit.ts';
import { naiveVerdict } from './naive.testkit.ts';
import type { AllowedPorts } from './port-sets.ts';
import type { Reachability } from './reachability.ts';

function holds(allowed: AllowedPorts, protocol: string, port = 0): boolean {
  if (allowed === 'ALL') return true;
  return allowed.some((r) => r.protocol === protocol && (r.from ?? 0) <= port && port <= (r.to ?? 65_535));
}

function expectNaive(reach: Reachability, model: NetworkModel): void {
  for (const src of namesOf(model)) {
    for (const dst of namesOf(model)) {
      const allowed = reach.allowed(src, dst);
      for (const [protocol, port] of PROBES) {
        const expected = naiveVerdict(model, src, dst, protocol, port);
        const found = [reach.verdict(src, dst, protocol, port), holds(allowed, protocol, port)];
        expect({ src, dst, protocol, port, found }).toEqual({ src, dst, protocol, port, found: [expected, expected] });
      }
    }
  }
}

const pairKey = ({ src, dst, allowed }: { src: string; dst: string; allowed: AllowedPorts }) =>
  `${src}>${dst} ${JSON.stringify(allowed)}`;

/** For the properties, on a machine that is busy with something else. */
const SLOW = { timeout: 30_000 };

describe('Reachability', SLOW, () => {
  test('agrees with the plain reading of the rules on every pair, protocol and port', () => {
    fc.assert(
      fc.property(networkModel, (model) => expectNaive(compile(model), model)),
      { numRuns: 150 },
    );
  });

  test('an engine that has seen other models answers as a fresh one', () => {
    const engine = createEngine();
    fc.assert(
      fc.property(networkModel, networkModel, (a, b) => {
        engine.compile(a).prepare();
        const mixed = { ...b, policies: [...a.policies.slice(0, 2), ...b.policies] };
        expectNaive(engine.compile(mixed), mixed);
      }),
      { numRuns: 60 },
    );
  });

  test('rows, groups, the count and neighbours are the same matrix', () => {
    fc.assert(
      fc.property(networkModel, (model) => {
        const reach = compile(model);
        const names = namesOf(model);
        const byPair = names.flatMap((src) =>
          names
            .filter((dst) => dst !== src)
            .map((dst) => ({ src, dst, allowed: reach.allowed(src, dst) }))
            .filter(({ allowed }) => allowed.length > 0),
        );
        const rows = [...pairRows(reach)];
        const grouped = [...groupRows(reach)].flatMap(({ src, dst, allowed }) =>
          src.flatMap((s) => dst.filter((d) => d !== s).map((d) => ({ src: s, dst: d, allowed }))),
        );
        expect(rows.map(pairKey).sort()).toEqual(byPair.map(pairKey).sort());
        expect(grouped.map(pairKey).sort()).toEqual(byPair.map(pairKey).sort());
        expect(countPairs(reach)).toBe(byPair.length);
        for (const { name } of model.peers) {
          const linked = new Set(byPair.flatMap(({ src, dst }) => (src === name ? [dst] : dst === name ? [src] : [])));
          expect(reach.neighbours(name)).toEqual(model.peers.map((p) => p.name).filter((p) => linked.has(p)));
        }
      }),
      { numRuns: 200 },
    );
  });

  const pair = (policies: unknown[], more: Partial<NetworkModel> = {}): NetworkModel => ({
    networks: [{ name: 'n', cidr: '10.96.0.0/24', defaultAction: 'ALLOW' }],
    peers: [
      { name: 'web', labels: { role: 'web' }, network: 'n' },
      { name: 'db', labels: { role: 'db' }, network: 'n' },
    ],
    policies: policies.map((spec, i) => ({ name: `pol${i}`, spec })),
    now: NOW,
    ...more,
  });

  test('the ports of several rules join into the fewest ranges', () => {
    const spec = {
      action: 'ALLOW',
      ingress: [{ ports: [{ port: 81 }, { port: 80 }] }, { ports: [{ protocol: 'ICMP' }] }],
    };
    expect(compile(pair([spec])).allowed('web', 'db')).toEqual([
      { protocol: 'TCP', from: 80, to: 81 },
      { protocol: 'ICMP' },
    ]);
  });

  test.each([
    ['an ALLOW of an unknown shape isolates', { action: 'ALLOW', ingress: [{ sources: [] }] }],
    [
      'an ALLOW with an unreadable block isolates',
      { action: 'ALLOW', ingress: [{ from: [{ ipBlock: { cidr: '?' } }] }] },
    ],
    ['a DENY of an unknown shape denies everything', { action: 'DENY', tier: 1 }],
    ['an unknown action denies everything', { action: 'PASS' }],
    ['a policy that is no object denies everything', null],
  ])('%s', (_, spec) => {
    const open = { action: 'ALLOW', ingress: [{}], egress: [{}] };
    const isDeny = !(typeof spec === 'object' && spec?.action === 'ALLOW');
    expect(compile(pair(isDeny ? [spec, open] : [spec])).allowed('web', 'db')).toEqual([]);
  });

  test('a delegated peer whose ancestor is unknown, or its own, opens nothing', () => {
    const model = pair([]);
    const bounded = (ancestor: string) =>
      model.peers.map((p) => (p.name === 'web' ? { ...p, bound: { ancestor } } : p));
    for (const ancestor of ['gone', 'web']) {
      expect(compile({ ...model, peers: bounded(ancestor) }).allowed('web', 'db')).toEqual([]);
    }
  });

  test('bounds that form a circle open nothing and end', () => {
    const model = pair([]);
    const peers = ['a', 'b', 'c'].map((name, i) => ({
      name,
      labels: {},
      network: 'n',
      bound: { ancestor: ['b', 'c', 'a'][i] ?? '' },
    }));
    const reach = compile({ ...model, peers: [...model.peers, ...peers] });
    expect([reach.allowed('a', 'db'), countPairs(reach) > 0, [...pairRows(reach)].length]).toEqual([
      [],
      true,
      countPairs(reach),
    ]);
  });

  test('labels named like members of Object.prototype are labels', () => {
    const spec = {
      action: 'ALLOW',
      ingress: [{ from: [{ peerSelector: { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] } }] }],
    };
    expect(compile(pair([spec])).allowed('web', 'db')).toEqual([]);
  });

  test('nextChangeAt is the earliest expiry ahead', () => {
    const spec = { action: 'ALLOW', expiresAt: '2026-01-01T00:00:02Z' };
    const model = pair([spec]);
    const peers = model.peers.map((peer, i) => ({ ...peer, expiresAt: NOW + 3_000 * (i + 1) }));
    expect([compile(pair([])).nextChangeAt(), compile({ ...model, peers }).nextChangeAt()]).toEqual([
      undefined,
      NOW + 2_000,
    ]);
  });
});
