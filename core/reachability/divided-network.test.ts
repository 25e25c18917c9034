import { describe, expect, test } from 'vitest';
import { checkAssertions } from './assertions.ts';
import { compileDivided } from './divided-network.ts';
import { NOW } from './models.testkit.ts';
import { simulate, simulatedModel, simulateInputSchema } from './simulate.ts';

/** One peer, `db`, whose ingress one policy decides; `from` is an external of the given range. */
function network(range: string, action: 'ALLOW' | 'DENY', blocks: readonly object[], more: readonly object[] = []) {
  return simulateInputSchema.parse({
    peers: [{ name: 'db', address: '10.96.0.2' }],
    policies: [
      { name: 'in', spec: { action, peerSelector: {}, ingress: [{ from: blocks.map((ipBlock) => ({ ipBlock })) }] } },
      ...more,
    ],
    externals: [{ name: 'from', range }],
    queries: [{ src: 'from', dst: 'db' }],
  });
}

const verdictOf = (input: ReturnType<typeof network>) => simulate(input, NOW).verdicts?.[0]?.verdict;
const passes = (input: ReturnType<typeof network>, expected: 'allow' | 'deny') =>
  checkAssertions(compileDivided(simulatedModel(input, NOW)), [{ src: 'from', dst: 'db', expect: expected }])[0]?.pass;

describe('an external that policies divide', () => {
  test('is partly reachable where an ALLOW covers a part of it, and neither expectation holds', () => {
    const input = network('192.0.0.0/2', 'ALLOW', [{ cidr: '203.0.113.0/24' }]);
    expect(verdictOf(input)).toBe('partial');
    expect([passes(input, 'deny'), passes(input, 'allow')]).toEqual([false, false]);
    expect(simulate(input, NOW).rows).toEqual([
      { src: 'from', dst: 'db', allowed: [], partial: true },
      { src: 'db', dst: 'from', allowed: 'ALL' },
    ]);
  });

  test('is unreachable where a DENY of both of its halves covers all of it', () => {
    const input = network('1.0.0.0/8', 'DENY', [{ cidr: '1.0.0.0/9' }, { cidr: '1.128.0.0/9' }]);
    expect(verdictOf(input)).toBe('unreachable');
    expect(passes(input, 'deny')).toBe(true);
    expect(simulate(input, NOW).rows).toEqual([{ src: 'db', dst: 'from', allowed: 'ALL' }]);
  });

  test('is reachable where ALLOW rules together cover all of it', () => {
    const input = network('1.0.0.0/8', 'ALLOW', [{ cidr: '1.0.0.0/9' }, { cidr: '1.128.0.0/9' }]);
    expect([verdictOf(input), passes(input, 'allow')]).toEqual(['reachable', true]);
  });

  test('is partly reachable where a block leaves a hole in it', () => {
    const input = network('1.0.0.0/8', 'ALLOW', [{ cidr: '0.0.0.0/0', except: ['1.2.3.0/24'] }]);
    expect(verdictOf(input)).toBe('partial');
  });

  test('is judged without the addresses of the network, which are peers', () => {
    const input = network('0.0.0.0/0', 'ALLOW', [{ cidr: '0.0.0.0/0', except: ['10.96.0.0/24'] }]);
    expect(verdictOf(input)).toBe('reachable');
  });

  test('names the part that is kept out', () => {
    const [result] = checkAssertions(
      compileDivided(simulatedModel(network('192.0.0.0/2', 'ALLOW', [{ cidr: '203.0.113.0/24' }]), NOW)),
      [{ src: 'from', dst: 'db', expect: 'allow' }],
    );
    expect(result).toMatchObject({ pass: false, verdict: 'partial', reason_code: 'INGRESS_ISOLATED', policy: 'in' });
  });

  test('may be divided into 20,000 parts with the others, and no more', () => {
    const blocks = Array.from({ length: 100 }, (_, at) => ({ cidr: `1.0.${at}.0/25` }));
    const input = simulateInputSchema.parse({
      ...network('1.0.0.0/8', 'ALLOW', blocks),
      externals: Array.from({ length: 200 }, (_, at) => ({ name: `e${at}`, cidr: '1.0.0.0/8' })),
      queries: [],
    });
    expect(() => simulate(input, NOW)).toThrow(/more than 20000 parts/);
  });
});
