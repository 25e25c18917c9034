import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PortEntry, Protocol } from '../model/policy.ts';
import { ALL_PORTS, NO_PORTS, PortSets, pointOf } from './port-sets.ts';

const port = fc.integer({ min: 1, max: 12 });
const entry: fc.Arbitrary<PortEntry> = fc.oneof(
  fc.constant({ protocol: 'ICMP' as const }),
  fc.record({ protocol: fc.constantFrom('TCP' as const, 'UDP' as const, 'SCTP' as const) }),
  fc
    .tuple(fc.constantFrom('TCP' as const, 'SCTP' as const), port, port)
    .map(([protocol, a, b]) => ({ protocol, port: Math.min(a, b), endPort: Math.max(a, b) })),
);
const entries = fc.array(entry, { minLength: 1, maxLength: 4 });
const POINTS = (['TCP', 'UDP', 'SCTP', 'ICMP'] as const).flatMap((protocol): [Protocol, number?][] =>
  protocol === 'ICMP' ? [[protocol]] : [1, 2, 3, 5, 8, 12, 13, 65_535].map((at) => [protocol, at]),
);

function member(list: readonly PortEntry[], protocol: Protocol, at = 0): boolean {
  return list.some((one) => {
    if ((one.protocol ?? 'TCP') !== protocol) return false;
    return one.port === undefined || (one.port <= at && at <= (one.endPort ?? one.port));
  });
}

describe('PortSets', () => {
  test('union, meet, minus and intersects are those of sets', () => {
    const sets = new PortSets();
    fc.assert(
      fc.property(entries, entries, (a, b) => {
        const [left, right] = [sets.ofEntries(a), sets.ofEntries(b)];
        const found = POINTS.map(([protocol, at]) => {
          const point = pointOf(protocol, at);
          return [sets.union(left, right), sets.meet(left, right), sets.minus(left, right)].map((set) =>
            sets.has(set, point),
          );
        });
        const expected = POINTS.map(([protocol, at]) => {
          const [inA, inB] = [member(a, protocol, at), member(b, protocol, at)];
          return [inA || inB, inA && inB, inA && !inB];
        });
        expect(found).toEqual(expected);
        expect(sets.intersects(left, right)).toBe(sets.meet(left, right) !== NO_PORTS);
      }),
    );
  });

  test('the four protocols in full are everything, and no rule ports at all are everything', () => {
    const sets = new PortSets();
    const full = (['ICMP', 'SCTP', 'UDP', 'TCP'] as const).map((protocol) => ({ protocol }));
    expect([sets.ofEntries(full), sets.ofEntries([]), sets.describe(ALL_PORTS)]).toEqual([ALL_PORTS, ALL_PORTS, 'ALL']);
  });

  test('neighbouring ranges join, but never across protocols', () => {
    const sets = new PortSets();
    const id = sets.ofEntries([{ protocol: 'SCTP' }, { protocol: 'ICMP' }, { port: 7 }, { port: 5, endPort: 6 }]);
    expect(sets.describe(id)).toEqual([
      { protocol: 'TCP', from: 5, to: 7 },
      { protocol: 'SCTP', from: 1, to: 65_535 },
      { protocol: 'ICMP' },
    ]);
  });

  test('a port outside 1 to 65535, a port of ICMP and a missing port are in no set', () => {
    const sets = new PortSets();
    const points = [
      pointOf('TCP', 0),
      pointOf('UDP', 65_536),
      pointOf('TCP', 1.5),
      pointOf('ICMP', 8),
      pointOf('TCP', undefined),
    ];
    expect(points.map((point) => sets.has(ALL_PORTS, point))).toEqual([false, false, false, false, false]);
  });
});
