import { describe, expect, test } from 'vitest';
import { laterMs, Tries } from './tries.ts';

/** When each side begins in the first tries, in the offerer's and the answerer's order. */
function beginnings(tries: number) {
  const schedule = new Tries();
  return Array.from({ length: tries }, () => {
    const { firstCheck } = schedule;
    schedule.exhausted(true, 0, 0);
    return [laterMs('offerer', firstCheck), laterMs('answerer', firstCheck)];
  });
}

describe('who begins to send', () => {
  test('both begin together in the first try, then one side waits, in turn', () => {
    expect(beginnings(5)).toEqual([
      [0, 0],
      [600, 0],
      [0, 600],
      [600, 0],
      [0, 600],
    ]);
  });
});

describe('when it is tried again', () => {
  test('a path that was lost is tried soon, a hopeless one ever more rarely', () => {
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
