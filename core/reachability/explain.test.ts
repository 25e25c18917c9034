import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EgressRule, type PolicySpec, policySpecSchema } from '../model/policy.ts';
import { compile } from './engine.ts';
import { explain } from './explain.ts';
import type { Explanation, Fix } from './explanation.ts';
import type { NetworkModel, PeerInput } from './model.ts';
import { NOW, namesOf, networkModel, PROBES } from './models.testkit.ts';

const web: PeerInput = { name: 'web', labels: { role: 'web' }, network: 'n' };
const db: PeerInput = { name: 'db', labels: { role: 'db' }, network: 'n' };

function model(specs: Record<string, PolicySpec>, peers: PeerInput[] = [web, db]): NetworkModel {
  return {
    networks: [
      { name: 'n', cidr: '10.96.0.0/24', defaultAction: 'ALLOW' },
      { name: 'closed', cidr: '10.97.0.0/24', defaultAction: 'DENY' },
    ],
    peers,
    policies: Object.entries(specs).map(([name, spec]) => ({ name, spec })),
    externals: [
      { name: 'internet', range: '8.8.8.8/32' },
      { name: 'other', range: '9.9.9.9/32' },
    ],
    now: NOW,
  };
}

const toDb = (more: Partial<PolicySpec>): PolicySpec => ({
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'db' } },
  ...more,
});
const fromWeb = { from: [{ peerSelector: { matchLabels: { role: 'web' } } }] };

function decision({ verdict, steps }: Explanation) {
  const last = steps.find(({ result }) => result !== 'pass') ?? steps.at(-1);
  return [verdict, last?.stage, last?.reason_code, last?.policy, last?.rule_index];
}

describe('explain', { timeout: 30_000 }, () => {
  const ask = (m: NetworkModel, src = 'web', dst = 'db') =>
    explain(compile(m), { src, dst, protocol: 'TCP', port: 5432 });

  test.each<[string, Record<string, PolicySpec>, unknown[]]>([
    ['nothing selects', {}, ['reachable', 'ingress', 'ALLOWED_BY_DEFAULT', null, null]],
    [
      'a rule allows',
      { a: toDb({ ingress: [{ ports: [{ port: 1 }] }, fromWeb] }) },
      ['reachable', 'ingress', 'ALLOWED_BY_RULE', 'a', 1],
    ],
    [
      'a DENY rule wins',
      { a: toDb({ ingress: [fromWeb] }), d: toDb({ action: 'DENY', ingress: [fromWeb] }) },
      ['unreachable', 'ingress', 'INGRESS_DENIED_BY_RULE', 'd', 0],
    ],
    ['the base isolates', { base: { action: 'DENY' } }, ['unreachable', 'egress', 'EGRESS_ISOLATED', 'base', null]],
    [
      'only the port fails',
      { a: toDb({ ingress: [{ ...fromWeb, ports: [{ port: 80 }] }] }) },
      ['unreachable', 'ingress', 'INGRESS_PORT_MISMATCH', 'a', 0],
    ],
    [
      'an ALLOW for someone else isolates',
      { a: toDb({ ingress: [{ from: [{ ipBlock: { cidr: '8.8.8.8/32' } }] }] }) },
      ['unreachable', 'ingress', 'INGRESS_ISOLATED', 'a', null],
    ],
    [
      'one ALLOW is for someone else and another for nobody',
      {
        a: toDb({ ingress: [{ from: [{ ipBlock: { cidr: '8.8.8.8/32' } }] }] }),
        b: toDb({ ingress: [] }),
      },
      ['unreachable', 'ingress', 'INGRESS_ISOLATED', 'b', null],
    ],
  ])('names what decides when %s', (_, specs, expected) => {
    expect(decision(ask(model(specs)))).toEqual(expected);
  });

  test.each<[string, Partial<PeerInput>, unknown[]]>([
    ['PEER_PENDING', { phase: 'pending' }, ['unreachable', 'approved', 'PEER_PENDING', null, null]],
    ['PEER_REVOKED', { phase: 'revoked' }, ['unreachable', 'approved', 'PEER_REVOKED', null, null]],
    ['PEER_EXPIRED', { expiresAt: NOW }, ['unreachable', 'not_expired', 'PEER_EXPIRED', null, null]],
    ['DIFFERENT_NETWORK', { network: 'closed' }, ['unreachable', 'same_network', 'DIFFERENT_NETWORK', null, null]],
    ['DELEGATION_BOUND', { bound: { reach: [] } }, ['unreachable', 'delegation_bound', 'DELEGATION_BOUND', null, null]],
  ])('says %s', (_, change, expected) => {
    expect(decision(ask(model({}, [{ ...web, ...change }, db])))).toEqual(expected);
  });

  test('says which name is unknown, that self-traffic is allowed and that externals are apart', () => {
    const m = model({ base: { action: 'DENY' } });
    expect([
      ask(m, 'web', 'gone').steps,
      decision(ask(m, 'web', 'web')),
      decision(ask(m, 'internet', 'other')),
    ]).toEqual([
      [
        {
          stage: 'known',
          direction: null,
          result: 'fail',
          reason_code: 'PEER_NOT_FOUND',
          subject: 'gone',
          policy: null,
          rule_index: null,
        },
      ],
      ['reachable', 'same_network', 'SELF_TRAFFIC', null, null],
      ['unreachable', 'same_network', 'EXTERNAL_TO_EXTERNAL', null, null],
    ]);
  });

  test('a network that denies by default says so, and the fix is one policy', () => {
    const peers = [web, db].map((peer) => ({ ...peer, network: 'closed' }));
    const { blocked_by, would_fix } = ask(model({}, peers));
    expect(blocked_by.map(({ reason_code, direction }) => [direction, reason_code])).toEqual([
      ['egress', 'DENIED_BY_DEFAULT'],
      ['ingress', 'DENIED_BY_DEFAULT'],
    ]);
    expect(would_fix[1]).toEqual({
      change: 'add_policy',
      policy: null,
      direction: 'ingress',
      spec: {
        network: 'closed',
        action: 'ALLOW',
        peerSelector: { peers: ['db'] },
        ingress: [{ from: [{ peerSelector: { peers: ['web'] } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
      },
    });
  });

  test('without a port it says how much of the pair is allowed', () => {
    const reach = compile(model({ a: toDb({ ingress: [{ ports: [{ port: 80 }] }] }) }));
    const { verdict, allowed, steps } = explain(reach, { src: 'web', dst: 'db' });
    expect([verdict, allowed, steps.at(-1)?.result]).toEqual([
      'partial',
      [{ protocol: 'TCP', from: 80, to: 80 }],
      'partial',
    ]);
  });

  test('the last word of the steps is the verdict of the matrix, for every pair and port', () => {
    fc.assert(
      fc.property(networkModel, (m) => {
        const reach = compile(m);
        for (const src of namesOf(m)) {
          for (const dst of namesOf(m)) {
            for (const [protocol, port] of PROBES.slice(0, 6)) {
              const { verdict, steps, blocked_by } = explain(reach, { src, dst, protocol, port });
              const expected = reach.verdict(src, dst, protocol, port);
              expect([verdict, steps.every(({ result }) => result === 'pass'), blocked_by.length === 0]).toEqual([
                expected ? 'reachable' : 'unreachable',
                expected,
                expected,
              ]);
            }
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  test('the fixes together open a connection that policies alone refuse', () => {
    fc.assert(
      fc.property(networkModel, fc.constantFrom(...PROBES), (m, [protocol, port]) => {
        const reach = compile(m);
        for (const src of namesOf(m)) {
          for (const dst of namesOf(m)) {
            const { verdict, blocked_by, would_fix } = explain(reach, { src, dst, protocol, port });
            const onlyPolicies = blocked_by.every(({ stage }) => stage === 'egress' || stage === 'ingress');
            if (verdict === 'reachable' || !onlyPolicies) continue;
            expect(compile(fixed(m, would_fix)).verdict(src, dst, protocol, port)).toBe(true);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

/** Applies fixes as an operator would: a removed rule is one that no longer matches anyone, so that indexes stay. */
function fixed(m: NetworkModel, fixes: readonly Fix[]): NetworkModel {
  const nobody = { ipBlock: { cidr: 'ff00::/128' } };
  const policies = m.policies.map(({ name, spec }) => {
    const copy = policySpecSchema.parse(spec);
    for (const fix of fixes) {
      if (fix.change !== 'spare_pair' || fix.policy !== name) continue;
      if (fix.direction === 'ingress' && copy.ingress) copy.ingress[fix.rule_index] = { from: [nobody] };
      if (fix.direction === 'egress' && copy.egress)
        copy.egress[fix.rule_index] = { to: [nobody] } satisfies EgressRule;
    }
    return { name, spec: copy };
  });
  const added = fixes.flatMap((fix, i) => (fix.change === 'add_policy' ? [{ name: `fix${i}`, spec: fix.spec }] : []));
  return { ...m, policies: [...policies, ...added] };
}
