import { expect, test } from 'vitest';
import { RelayRenewal } from './relay-renewal.ts';

const HOUR = 3_600_000;

test.each([
  ['a day', 24 * HOUR, 12 * HOUR],
  ['an hour', HOUR, HOUR / 2],
  ['a moment', 10, 60_000],
  ['less than nothing, by a clock that is ahead', -24 * HOUR, 60_000],
  ['years, by a clock that is behind', 30_000 * HOUR, 12 * HOUR],
])('a credential with %s left is renewed in time, by what has passed and not by the wall clock', (_, life, after) => {
  let elapsed = 5;
  const renewal = new RelayRenewal(() => elapsed);
  renewal.took(life);
  elapsed += after - 1;
  expect(renewal.isDue).toBe(false);
  elapsed += 1;
  expect(renewal.isDue).toBe(true);
});

test('without a credential nothing is renewed', () => {
  const renewal = new RelayRenewal(() => 0);
  expect(renewal.isDue).toBe(false);
  renewal.took(-1);
  renewal.took(undefined);
  expect(renewal.isDue).toBe(false);
});
