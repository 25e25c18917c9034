import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nearest, pairOf, relaysOfPair } from './choice.ts';

const costs = (of: Readonly<Record<string, number>>) => new Map(Object.entries(of));
const even = costs({ eu: 1, us: 1, asia: 1 });

describe('the relays of a pair', () => {
  test.each([
    ['the one that is nearest to both', { eu: 10, us: 90 }, { eu: 30, us: 80 }, ['eu', 'us']],
    ['between two homes the least sum', { eu: 10, us: 90, asia: 200 }, { eu: 120, us: 20 }, ['us', 'eu']],
    ['only what both can use', { eu: 10 }, { eu: 500, us: 20 }, ['eu']],
    ['nothing, where they share none', { eu: 10 }, { us: 10 }, []],
    ['one that came back of late comes last', { eu: 20_010, us: 90 }, { eu: 10, us: 90 }, ['us', 'eu']],
    ['no relay that the graph does not name', { moon: 1, eu: 90 }, { moon: 1, eu: 90 }, ['eu']],
  ])('%s', (_, one, two, expected) => {
    expect(relaysOfPair('a b', even, costs(one), costs(two))).toEqual(expected);
  });

  test('of relays that are as near, pairs use each in proportion to its capacity', () => {
    const capacities = costs({ small: 1, large: 3 });
    const near = costs({ small: 2, large: 4 });
    const first = Array.from({ length: 4_000 }, (_, n) => relaysOfPair(`pair ${n}`, capacities, near, near)[0]);
    const share = first.filter((name) => name === 'large').length / first.length;
    expect(share).toBeGreaterThan(0.72);
    expect(share).toBeLessThan(0.78);
  });

  test('both ends find the same order, whatever each says of itself', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const said = fc.array(fc.tuple(name, fc.nat(40_000))).map((entries) => new Map(entries));
    fc.assert(
      fc.property(said, said, fc.string(), fc.string(), (one, two, key, other) => {
        const capacities = new Map(['a', 'b', 'c', 'd', 'e'].map((each, n) => [each, n + 1]));
        const turned = new Map([...capacities].reverse());
        expect(relaysOfPair(pairOf(key, other), capacities, one, two)).toEqual(
          relaysOfPair(pairOf(other, key), turned, two, one),
        );
      }),
    );
  });
});

test('the nearest relay of a node comes first, by name among equals', () => {
  expect(nearest(costs({ us: 20, eu: 20, asia: 5 }))).toEqual(['asia', 'eu', 'us']);
});
