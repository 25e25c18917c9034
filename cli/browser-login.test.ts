import { expect, test } from 'vitest';
import { hasBrowser } from './browser-login.ts';

test.each([
  ['linux', {}, false],
  ['linux', { DISPLAY: ':0' }, true],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, true],
  ['linux', { DISPLAY: 'localhost:10.0', SSH_CONNECTION: '192.0.2.7 1 192.0.2.8 22' }, false],
  ['darwin', {}, true],
  ['darwin', { SSH_TTY: '/dev/ttys001' }, false],
  ['win32', {}, true],
])('on %s with %j a browser is expected: %s', (platform, env, isExpected) => {
  expect(hasBrowser(env, platform)).toBe(isExpected);
});
