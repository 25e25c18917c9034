import { describe, expect, test } from 'vitest';
import { checkAssertions } from './assertions.ts';
import { compileDivided } from './divided-network.ts';
import { NOW } from './models.testkit.ts';
import { simulate, simulatedModel, simulateInputSchema, simulateOutputSchema } from './simulate.ts';

const input = simulateInputSchema.parse({
  peers: [
    { name: 'web', labels: { role: 'web' } },
    { name: 'db', labels: { role: 'db' }, address: '10.96.0.2' },
  ],
  policies: [
    { name: 'base', spec: { action: 'DENY' } },
    {
      name: 'web-out',
      spec: {
        action: 'ALLOW',
        peerSelector: { matchLabels: { role: 'web' } },
        egress: [{ to: [{ ipBlock: { cidr: '10.96.0.0/24' } }] }],
      },
    },
    {
      name: 'db-in',
      spec: {
        network: 'prod',
        action: 'ALLOW',
        peerSelector: { matchLabels: { role: 'db' } },
        ingress: [
          {
            from: [{ peerSelector: {} }, { ipBlock: { cidr: '0.0.0.0/0' } }],
            ports: [{ port: 5432 }, { protocol: 'ICMP' }],
          },
        ],
      },
    },
  ],
  externals: [
    { name: 'internet', cidr: '0.0.0.0/0' },
    { name: 'office', range: '8.8.8.8-8.8.8.9' },
  ],
  queries: [
    { src: 'web', dst: 'db', protocol: 'TCP', port: 5432 },
    { src: 'db', dst: 'web', port: 80 },
    { src: 'web', dst: 'gone' },
  ],
});

function problemsOf(change: Record<string, unknown>): string[] {
  const { error } = simulateInputSchema.safeParse({ peers: [], policies: [], ...change });
  return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
}

describe('simulate', () => {
  test('lists the pairs that are not denied and answers the queries in order', () => {
    const output = simulate(input, NOW);
    const allowed = [{ protocol: 'TCP', from: 5432, to: 5432 }, { protocol: 'ICMP' }];
    expect(simulateOutputSchema.parse(output)).toEqual({
      rows: [
        { src: 'web', dst: 'db', allowed },
        { src: 'office', dst: 'db', allowed },
        { src: 'internet', dst: 'db', allowed },
      ],
      verdicts: [
        {
          ...{ src: 'web', dst: 'db', protocol: 'TCP', port: 5432, verdict: 'reachable' },
          ...{
            allowed: [{ protocol: 'TCP', from: 5432, to: 5432 }],
            reason_code: 'ALLOWED_BY_RULE',
            policy: 'db-in',
            rule_index: 0,
          },
        },
        {
          ...{ src: 'db', dst: 'web', port: 80, verdict: 'unreachable' },
          ...{ allowed: [], reason_code: 'EGRESS_ISOLATED', policy: 'base', rule_index: null },
        },
        {
          ...{ src: 'web', dst: 'gone', verdict: 'unreachable' },
          ...{ allowed: [], reason_code: 'PEER_NOT_FOUND', policy: null, rule_index: null },
        },
      ],
    });
  });

  test.each<[Record<string, unknown>, string]>([
    [{ peers: [{ name: 'a' }, { name: 'a' }] }, 'peers.1.name: the name "a" is given twice'],
    [
      { peers: [{ name: 'a' }], externals: [{ name: 'a', cidr: '::/0' }] },
      'externals.0.name: the name "a" is given twice',
    ],
    [{ peers: [{ name: 'a', address: 'x' }] }, 'peers.0.address: an IPv4 or IPv6 address is needed'],
    [{ externals: [{ name: 'x' }] }, 'externals.0: exactly one of cidr and range is needed'],
    [{ policies: [{ name: 'p', spec: { action: 'PASS' } }] }, 'policies.0.spec.action: action is ALLOW or DENY'],
    [
      { peers: Array.from({ length: 1_001 }, (_, i) => ({ name: `p${i}` })) },
      'peers: Too big: expected array to have <=1000 items',
    ],
  ])('refuses %j', (change, problem) => {
    expect(problemsOf(change)).toEqual([problem]);
  });

  test('refuses an answer too long to send', () => {
    const peers = Array.from({ length: 1_000 }, (_, i) => ({ name: `p${i}` }));
    const externals = [{ name: 'x', cidr: '8.8.8.8/32' }];
    expect(() => simulate(simulateInputSchema.parse({ peers, policies: [], externals }), NOW)).toThrow(/1001000 rows/);
  });

  test('refuses few pairs with many port ranges each before it has made them, and says how to narrow the question', () => {
    const peers = Array.from({ length: 200 }, (_, i) => ({ name: `p${i}` }));
    const ports = Array.from({ length: 100 }, (_, i) => ({ port: 2 * i + 1 }));
    const policies = [{ name: 'comb', spec: { action: 'ALLOW', peerSelector: {}, ingress: [{ ports }] } }];
    const asked = { peers, policies };
    expect(() => simulate(simulateInputSchema.parse(asked), NOW)).toThrow(
      /larger than 32 MB\. Name some .* in sources/,
    );
    const { rows } = simulate(simulateInputSchema.parse({ ...asked, sources: ['p0', 'p1', 'nobody'] }), NOW);
    expect(new Set(rows.map(({ src }) => src))).toEqual(new Set(['p0', 'p1']));
    expect(rows).toHaveLength(2 * 199);
  });

  test('answers queries without any rows where no sources are wanted', () => {
    const output = simulate({ ...input, sources: [] }, NOW);
    expect(output).toEqual({ rows: [], verdicts: simulate(input, NOW).verdicts });
  });

  test('takes 2,000 externals and 1,000 entries in a rule', () => {
    const entries = Array.from({ length: 1_000 }, (_, i) => ({ ipBlock: { cidr: `10.${i >> 8}.${i & 255}.0/24` } }));
    const externals = Array.from({ length: 2_000 }, (_, i) => ({
      name: `x${i}`,
      cidr: `10.${i >> 8}.${i & 255}.1/32`,
    }));
    const spec = { action: 'ALLOW', peerSelector: {}, ingress: [{ from: entries }] };
    const peers = [{ name: 'a' }, { name: 'b' }];
    const { rows } = simulate(simulateInputSchema.parse({ peers, policies: [{ name: 'p', spec }], externals }), NOW);
    expect(rows.filter(({ dst }) => dst === 'a')).toHaveLength(1_000);
    expect(rows.filter(({ src }) => src === 'a')).toHaveLength(2_000);
  });
});

describe('checkAssertions', () => {
  test('compares the verdict with what is expected, and fails on names it does not know', () => {
    const reach = compileDivided(simulatedModel(input, NOW));
    const results = checkAssertions(reach, [
      { src: 'web', dst: 'db', protocol: 'TCP', port: 5432, expect: 'allow' },
      { src: 'web', dst: 'db', port: 22, expect: 'allow' },
      { src: 'web', dst: 'db', expect: 'deny' },
      { src: 'db', dst: 'web', expect: 'deny' },
      { src: 'wep', dst: 'db', expect: 'deny' },
    ]);
    expect(results.map(({ pass, verdict, reason_code, policy }) => [pass, verdict, reason_code, policy])).toEqual([
      [true, 'reachable', null, null],
      [false, 'unreachable', 'INGRESS_PORT_MISMATCH', 'db-in'],
      [false, 'partial', 'INGRESS_PORT_MISMATCH', 'db-in'],
      [true, 'unreachable', 'EGRESS_ISOLATED', 'base'],
      [false, 'unreachable', 'PEER_NOT_FOUND', null],
    ]);
  });
});
