import { expect, test } from 'vitest';
import { sharedAddresses } from './trusted-proxies.ts';

test.each([
  [undefined, ['127.0.0.1', '::1', '::ffff:127.0.0.2']],
  [['10.0.0.0/8'], ['127.0.0.1', '::1', '::ffff:127.0.0.2', '10.1.2.3', '::ffff:10.1.2.3']],
  [['203.0.113.7'], ['127.0.0.1', '::1', '::ffff:127.0.0.2', '203.0.113.7']],
] as const)('with %j as trusted proxies, callers share %j', (trust, shared) => {
  const asked = ['127.0.0.1', '::1', '::ffff:127.0.0.2', '10.1.2.3', '::ffff:10.1.2.3', '203.0.113.7', '2001:db8::1'];
  expect(asked.filter(sharedAddresses(trust))).toEqual(shared);
});

test('with a number of proxies, whoever connects may be one', () => {
  expect(sharedAddresses(1)('203.0.113.7')).toBe(true);
});
