import { expect, test } from 'vitest';
import { isLoopback, isLoopbackUrl } from './loopback.ts';

const HERE = [
  '127.0.0.1',
  '127.255.0.9',
  '::1',
  '[::1]',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
  '::FFFF:7f00:1',
  'localhost',
  'LOCALHOST.',
  'api.localhost',
];
const ELSEWHERE = [
  '127.evil.example',
  '127.0.0.1.evil.example',
  'localhost.evil.com',
  'notlocalhost',
  '.localhost',
  '127.0.0.256',
  '127.1',
  '0127.0.0.1',
  '128.0.0.1',
  '0.0.0.0',
  '::',
  '::2',
  '::ffff:10.0.0.1',
  '::1%eth0',
  '[::1]:80',
  'user@localhost',
  '',
];

test.each(HERE)('%s is this machine alone', (host) => expect(isLoopback(host)).toBe(true));
test.each(ELSEWHERE)('%j is not known to be this machine', (host) => expect(isLoopback(host)).toBe(false));

test.each([
  ['nats://127.0.0.1:4222', true],
  ['lrps://secret@[::1]:6266', true],
  ['127.0.0.1:3478', true],
  ['localhost:3478', true],
  ['http://app.localhost:18090/x', true],
  ['nats://127.evil.example:4222', false],
  ['nats://localhost.evil.com:4222', false],
  ['nats://localhost@evil.example:4222', false],
  ['http://evil.example/127.0.0.1', false],
  ['no address', false],
  ['', false],
])('the address %j leads to this machine alone: %s', (url, expected) => expect(isLoopbackUrl(url)).toBe(expected));
