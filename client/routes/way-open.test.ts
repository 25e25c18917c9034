import { expect, test } from 'vitest';
import { isWayOpen } from './way-open.ts';

const refused = (address: string) => ({ address, why: 'refused' as const });
const silent = (address: string | undefined) => ({ address, why: 'silent' as const });
const noRoute = (address: string) => ({ address, why: 'no-route' as const });

test.each([
  [[refused('198.51.100.1')], true],
  [[refused('198.51.100.1'), refused('2001:db8::1')], true],
  [[refused('10.5.0.1'), refused('198.51.100.1')], false],
  [[silent('10.5.0.1'), refused('2001:db8::1')], false],
  [[silent('198.51.100.1')], false],
  [[silent(undefined)], false],
  [[refused('127.0.0.1')], false],
  [[refused('::1')], false],
  [[refused('plane.example')], false],
  [[noRoute('2001:db8::1'), refused('198.51.100.1')], true],
  [[noRoute('2001:db8::1'), silent('198.51.100.1')], false],
  [[noRoute('10.5.0.1'), refused('198.51.100.1')], false],
  [[noRoute('198.51.100.1')], false],
  [[], false],
])('with 10.5.0.0/16 routed, tries of %j show an open way: %s', (tries, isOpen) => {
  expect(isWayOpen(tries, '10.5.0.0/16')).toBe(isOpen);
});
