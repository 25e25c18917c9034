import { expect, test } from 'vitest';
import { isWayOpen } from './way-open.ts';

test.each([
  [['198.51.100.1'], true],
  [['2001:db8::1'], true],
  [['10.5.0.1', '198.51.100.1'], true],
  [['10.5.0.1'], false],
  [['plane.example'], false],
  [[], false],
])('with 10.5.0.0/16 routed, a connection refused by %j shows an open way: %s', (refusedBy, isOpen) => {
  expect(isWayOpen(refusedBy, '10.5.0.0/16')).toBe(isOpen);
});
