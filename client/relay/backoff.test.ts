import { expect, test } from 'vitest';
import { Backoff } from './backoff.ts';

test('waits stay below a second for a quarter of a minute and then double up to 30 s, each drawn from its upper half', () => {
  const most = new Backoff(() => 0.999_999);
  const least = new Backoff(() => 0);
  const waits = Array.from({ length: 23 }, () => [least.next(), most.next()]);
  expect(waits.slice(0, 3)).toEqual([
    [250, 500],
    [500, 1_000],
    [500, 1_000],
  ]);
  expect(waits.slice(14)).toEqual([
    [500, 1_000],
    [500, 1_000],
    [1_000, 2_000],
    [2_000, 4_000],
    [4_000, 8_000],
    [8_000, 16_000],
    [15_000, 30_000],
    [15_000, 30_000],
    [15_000, 30_000],
  ]);
});

test('after a success it begins anew', () => {
  const backoff = new Backoff(() => 0);
  for (let n = 0; n < 30; n++) backoff.next();
  backoff.reset();
  expect([backoff.next(), backoff.next(), backoff.next()]).toEqual([250, 500, 500]);
});
