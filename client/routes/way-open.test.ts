import { expect, test } from 'vitest';
import { isWayOpen } from './way-open.ts';

const refused = (address: string) => ({ address, isRefused: true });
const silent = (address: string | undefined) => ({ address, isRefused: false });

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
  [[], false],
])('with 10.5.0.0/16 routed, tries of %j show an open way: %s', (tries, isOpen) => {
  expect(isWayOpen(tries, '10.5.0.0/16')).toBe(isOpen);
});
