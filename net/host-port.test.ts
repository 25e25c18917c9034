import { expect, test } from 'vitest';
import { formatHostPort, parseHostPort } from './host-port.ts';

test.each([
  ['192.0.2.1:80', '192.0.2.1', 80],
  ['[2001:db8::1]:80', '2001:db8::1', 80],
  ['mesh.example:65535', 'mesh.example', 65_535],
  ['0.0.0.0:0', '0.0.0.0', 0],
])('%s is a host and a port, and is written so', (text, host, port) => {
  expect(parseHostPort(text)).toEqual({ host, port });
  expect(formatHostPort(host, port)).toBe(text);
});

test.each(['', 'host', ':80', 'host:', 'host:65536', '2001:db8::1:80', '[host]:80', 'user@host:80', 'a/b:80'])(
  '%j is no host and port',
  (text) => {
    expect(parseHostPort(text)).toBeUndefined();
  },
);
