import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { laterMs, Tries } from './tries.ts';

/** When each side begins in the first tries, in the offerer's and the answerer's order. */
function beginnings(drawn: bigint, tries: number) {
  const schedule = new Tries();
  return Array.from({ length: tries }, () => {
    const tieBreaker = schedule.tieBreaker(drawn);
    schedule.exhausted(true, 0, 0);
    return [laterMs('offerer', tieBreaker), laterMs('answerer', tieBreaker)];
  });
}

describe('who begins to send', () => {
  test('both begin together in the first try, then one side waits, in turn', () => {
    expect(beginnings(1_000n, 5)).toEqual([
      [0, 0],
      [600, 0],
      [0, 600],
      [600, 0],
      [0, 600],
    ]);
  });

  test('the order is the same whatever tie breaker is drawn, and the tie breaker still fits 64 bits', () => {
    const drawn = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.constantFrom(2n ** 64n - 1n, 0n));
    fc.assert(
      fc.property(drawn, (tieBreaker) => {
        expect(beginnings(tieBreaker, 4)).toEqual(beginnings(0n, 4));
        expect(new Tries().tieBreaker(tieBreaker)).toBeLessThan(2n ** 64n);
      }),
    );
  });
});

describe('when it is tried again', () => {
  test('a way that was lost is tried soon, a hopeless one ever more rarely', () => {
    const tries = new Tries();
    const waits = () =>
      Array.from({ length: 6 }, () => {
        tries.exhausted(true, 0, 0);
        return tries.deadline / 1_000;
      });
    expect(waits()).toEqual([34, 60, 120, 300, 300, 300]);
    tries.lost();
    expect([tries.wasLost, waits()]).toEqual([true, [3, 4, 6, 10, 20, 34]]);
    tries.opened();
    expect([tries.wasLost, tries.deadline, waits()]).toEqual([false, Infinity, [34, 60, 120, 300, 300, 300]]);
  });

  test('the side that answers takes a try into its own hands later', () => {
    const tries = new Tries();
    tries.exhausted(false, 1_000, 0);
    expect(tries.deadline).toBe(1_000 + 34_000 + 8_000);
  });
});
