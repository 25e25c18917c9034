import { expect, test } from 'vitest';
import { Pacer } from './pacer.ts';

/** How many get through in a span of time when someone asks every millisecond. */
function passed(pacer: Pacer, from: number, to: number): number {
  let count = 0;
  for (let now = from; now < to; now++) if (pacer.take(now) === undefined) count += 1;
  return count;
}

test('a burst passes at once, then the steady rate', () => {
  const pacer = new Pacer(100, 5);
  const atOnce = Array.from({ length: 8 }, () => pacer.take(1_000));
  expect(atOnce.filter((later) => later === undefined)).toHaveLength(5);
  expect(passed(pacer, 1_000, 2_000)).toBeLessThanOrEqual(100);
  expect(passed(pacer, 2_000, 3_000)).toBeGreaterThanOrEqual(99);
});

test('who is refused hears when to come back, and then passes', () => {
  const pacer = new Pacer(10, 1);
  pacer.take(5_000);
  const later = pacer.take(5_000) ?? 0;
  expect([later > 5_000, pacer.take(later)]).toEqual([true, undefined]);
});

test('a clock that goes back holds nobody up', () => {
  const pacer = new Pacer(10, 1);
  pacer.take(1_000_000);
  expect(pacer.take(10)).toBeUndefined();
});
