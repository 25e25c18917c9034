import { describe, expect, it } from 'vitest';
import { isLoopback } from './loopback.ts';
import { originOf } from './origin.ts';

describe('the origin of a request', () => {
  const request = (ip: string, remoteAddress: string, headers = {}) =>
    originOf({ ip, socket: { remoteAddress }, headers: { host: 'localhost:18090', ...headers } });

  it('is the address of the client, whatever it says to have passed on', () => {
    expect(request('127.0.0.1', '127.0.0.1')).toBe('127.0.0.1');
    expect(request('10.0.0.7', '10.0.0.7', { 'x-forwarded-for': '127.0.0.1' })).toBe('10.0.0.7');
  });

  it('is what a trusted proxy says', () => {
    expect(request('203.0.113.7', '127.0.0.1', { 'x-forwarded-for': '203.0.113.7' })).toBe('203.0.113.7');
  });

  it.each([
    { 'x-forwarded-for': '127.0.0.1' },
    { forwarded: 'for=127.0.0.1' },
    { 'x-real-ip': '127.0.0.1' },
    { via: '1.1 front' },
    { 'cf-connecting-ip': '127.0.0.1' },
    { 'true-client-ip': '127.0.0.1' },
    { 'x-client-ip': '127.0.0.1' },
    { 'x-forwarded-port': '443' },
    { 'x-forwarded-prefix': '/mesh' },
    { 'x-original-forwarded-for': '127.0.0.1' },
    { host: 'mesh.example' },
    { host: 'evil.example:18090', origin: 'http://evil.example:18090' },
    { origin: 'https://evil.example' },
    { origin: 'http://localhost:3000' },
    { origin: 'null' },
  ])('is not local when it came over the loopback with %j', (headers) => {
    const origin = request('::ffff:127.0.0.1', '::ffff:127.0.0.1', headers);
    expect([origin, isLoopback(origin)]).toEqual(['proxy 127.0.0.1', false]);
  });

  it('is not local when a trusted proxy says so', () => {
    expect(request('127.0.0.1', '10.0.0.1', { 'x-forwarded-for': '127.0.0.1' })).toBe('proxy 127.0.0.1');
  });

  it.each(['localhost:18090', 'LOCALHOST', '127.0.0.1:18090', '127.8.8.8', '[::1]:18090'])('is local as %s', (host) => {
    expect(request('127.0.0.1', '127.0.0.1', { host, origin: `http://${host}` })).toBe('127.0.0.1');
  });
});
