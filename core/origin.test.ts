import { describe, expect, it } from 'vitest';
import { isLoopback, originOf } from './origin.ts';

it.each([
  ['127.0.0.1', true],
  ['127.8.8.8', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['10.0.0.1', false],
  ['::ffff:10.0.0.1', false],
  ['127.0.0.1.example.com', false],
  ['', false],
])('isLoopback(%j) is %s', (origin, expected) => {
  expect(isLoopback(origin)).toBe(expected);
});

describe('the origin of a request', () => {
  const request = (ip: string, remoteAddress: string, headers = {}) =>
    originOf({ ip, socket: { remoteAddress }, headers });

  it('is the address of the client', () => {
    expect(request('127.0.0.1', '127.0.0.1')).toBe('127.0.0.1');
  });

  it('is what a trusted proxy says', () => {
    expect(request('203.0.113.7', '127.0.0.1', { 'x-forwarded-for': '203.0.113.7' })).toBe('203.0.113.7');
  });

  it.each(['x-forwarded-for', 'forwarded'])('is not local when an untrusted proxy on this machine sends %s', (name) => {
    const origin = request('::ffff:127.0.0.1', '::ffff:127.0.0.1', { [name]: '127.0.0.1' });
    expect([origin, isLoopback(origin)]).toEqual(['proxy 127.0.0.1', false]);
  });
});
