import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { cookieOf, endedCookie } from './credential.ts';

const SESSION = { token: 'a.b.c', expiresAt: '2026-01-05T12:00:00.000Z' };

test.each([
  ['TLS to here', { socket: { encrypted: true } }, true],
  ['TLS to a trusted proxy', { socket: {}, secure: true }, true],
  ['no TLS, as a trusted proxy says', { socket: { encrypted: true }, secure: false }, false],
  ['no TLS', { socket: {} }, false],
])('a session cookie is for TLS alone when it was set over it: %s', (_over, fields, isSecure) => {
  const request = fields as unknown as IncomingMessage;
  for (const cookie of [cookieOf(request, SESSION), endedCookie(request)]) {
    expect(cookie.endsWith('; Secure')).toBe(isSecure);
  }
});
