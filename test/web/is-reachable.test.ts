import { expect, test } from 'vitest';
import { isReachable } from '../../web/src/pages/join/is-reachable.ts';

test.each([
  ['https://mesh.example.net', true],
  ['http://192.0.2.7:18090', true],
  ['https://[2001:db8::7]:18090', true],
  ['http://127.0.0.1:18090', false],
  ['http://localhost:18090', false],
  ['http://[::1]:18090', false],
  ['http://0.0.0.0:18090', false],
  ['http://[::]:18090', false],
  ['mesh.example.net', false],
  ['ftp://mesh.example.net', false],
  ['https://', false],
  ['', false],
])('a QR code for the control plane at %j is drawn: %s', (server, isDrawn) => {
  expect(isReachable(server)).toBe(isDrawn);
});
