import { expect, test } from 'vitest';
import { sourceNetwork } from './source-network.ts';

test('an IPv4 address counts for itself, in either form', () => {
  expect(sourceNetwork('203.0.113.7', 64)).toBe('203.0.113.7');
  expect(sourceNetwork('::ffff:203.0.113.7', 64)).toBe('203.0.113.7');
});

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff::', 64, true],
  ['2001:db8:1:2::1', '2001:db8:1:3::1', 64, false],
  ['2001:db8:1:2::1', '2001:db8:1:3::1', 56, true],
  ['2001:db8:1:2::1', '2001:db8:1:102::1', 56, false],
  ['2001:0db8::1', '2001:db8:0:0:1::', 64, true],
])('%s and %s count as one by %i bits: %s', (one, other, bits, isOne) => {
  expect(sourceNetwork(one, bits) === sourceNetwork(other, bits)).toBe(isOne);
});

test('what is no address counts as it stands', () => {
  expect(sourceNetwork('proxy 127.0.0.1', 64)).toBe('proxy 127.0.0.1');
});
