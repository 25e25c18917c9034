import { expect, test } from 'vitest';
import { environment } from './config.ts';
import { busForNodes, withholdsCredential } from './configured-addresses.ts';

const certificate = { MESH_TLS_CERT: 'cert.pem', MESH_TLS_KEY: 'key.pem' };
const token = { MESH_SIGNALING_AUTH: 'token' };
const given = { MESH_SIGNALING_URL: 'nats://plane.example.net:4222' };

test.each([
  [{}, 'nats://127.0.0.1:4222'],
  [token, 'nats://127.0.0.1:4222'],
  [certificate, 'tls://127.0.0.1:4222'],
  [{ ...certificate, ...given }, 'nats://plane.example.net:4222'],
  [{ ...certificate, ...given, ...token }, 'tls://plane.example.net:4222'],
  [{ ...certificate, ...given, ...token, MESH_BUS_LISTEN: 'off' }, 'nats://plane.example.net:4222'],
  [{ MESH_SIGNALING_URL: 'tls://plane.example.net:4222' }, 'tls://plane.example.net:4222'],
])('with %j nodes are told that the bus is at %s', (variables, url) => {
  expect(busForNodes(environment.parse(variables))).toBe(url);
});

test('it is noticed when nodes are given an address to which they do not send the credential they need', () => {
  const cases = [token, given, { ...given, ...token }, { ...given, ...token, ...certificate }];
  expect(cases.map((variables) => withholdsCredential(environment.parse(variables)))).toEqual([
    false,
    false,
    true,
    false,
  ]);
});

test.each(['nats://127.evil.example:4222', 'nats://localhost.evil.com:4222'])(
  'a name that only begins like this host, %s, gets no credential without a word',
  (url) => {
    expect(withholdsCredential(environment.parse({ MESH_SIGNALING_URL: url, ...token }))).toBe(true);
  },
);
