import { expect, test } from 'vitest';
import { labelsChanged } from './labels.ts';

test.each([
  [{}, { role: 'web' }, 'role=web is set'],
  [{ role: 'web' }, { role: 'db' }, 'role=db is set (was web)'],
  [{ role: 'web', tier: 'one' }, { role: 'web' }, 'tier=one is taken away'],
  [{ b: '1' }, { a: '2' }, 'a=2 is set, b=1 is taken away'],
  [{ role: 'web' }, { role: 'web' }, ''],
])('from %j to %j it is said that %s', (was, is, said) => {
  expect(labelsChanged(was, is)).toBe(said);
});

test('of many labels that change some are told, and how many others there are', () => {
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`k${n}`, 'v']));
  expect(labelsChanged({}, many)).toMatch(/^k0=v is set, .*k3=v is set, and 5 more$/);
});
