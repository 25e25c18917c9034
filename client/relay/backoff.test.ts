import { expect, test } from 'vitest';
import { Backoff } from './backoff.ts';

test('waits double up to 30 s, each drawn from its upper half', () => {
  const most = new Backoff(() => 0.999_999);
  const least = new Backoff(() => 0);
  expect(Array.from({ length: 8 }, () => [least.next(), most.next()])).toEqual([
    [250, 500],
    [500, 1_000],
    [1_000, 2_000],
    [2_000, 4_000],
    [4_000, 8_000],
    [8_000, 16_000],
    [15_000, 30_000],
    [15_000, 30_000],
  ]);
});

test('after a success it begins anew', () => {
  const backoff = new Backoff(() => 0);
  for (let n = 0; n < 5; n++) backoff.next();
  backoff.reset();
  expect(backoff.next()).toBe(250);
});
