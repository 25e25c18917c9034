import { expect, test } from 'vitest';
import { ageOfKey } from './key-age.ts';

test.each([
  ['1970-01-01T00:00:01.000Z', 4_000],
  ['1970-01-01T00:00:05.000Z', 0],
  // Taken while the clock was ahead: it would stay for years.
  ['2030-01-01T00:00:00.000Z', Number.POSITIVE_INFINITY],
  [undefined, Number.POSITIVE_INFINITY],
])('a key since %s is %d ms old', (since, age) => {
  expect(ageOfKey(since, 5_000)).toBe(age);
});
