import { describe, expect, it } from 'vitest';
import { refuseForeignHost } from './host-check.ts';

const OWN = new Set(['mesh.example', 'plane']);

function refusal(localAddress: string, headers: Record<string, string>): string | undefined {
  return refuseForeignHost({ socket: { localAddress }, headers }, OWN)?.message;
}

describe('over the loopback', () => {
  it.each([
    { host: 'localhost:18090' },
    { host: '127.0.0.1:18090' },
    { host: '[::1]:18090' },
    { host: '10.0.0.5:18090' },
    { host: 'mesh.example' },
    { host: 'MESH.example.:443' },
    { host: 'mesh.example', origin: 'https://mesh.example', cookie: 'a=b' },
    { host: 'localhost:18090', origin: 'http://localhost:6274' },
    { host: '127.0.0.1:18090', origin: 'https://mesh.example' },
    { host: 'proxied.example', authorization: 'Bearer token' },
  ])('%j is answered', (headers) => {
    expect(refusal('127.0.0.1', headers)).toBeUndefined();
    expect(refusal('::ffff:127.0.0.1', headers)).toBeUndefined();
  });

  it.each([
    { host: 'evil.example:18090' },
    { host: 'evil.example:18090', origin: 'http://evil.example:18090' },
    { host: 'evil.example:18090', authorization: 'Basic YWRtaW46' },
    { host: 'evil.example:18090', authorization: 'Bearer token', origin: 'http://evil.example:18090' },
    { host: 'evil.example:18090', authorization: 'Bearer token', cookie: 'a=b' },
    { host: '127.0.0.1.evil.example' },
    { host: 'localhost', origin: 'https://evil.example' },
    { host: 'localhost', origin: 'http://203.0.113.7' },
    { host: 'localhost', origin: 'null' },
    { host: 'localhost', origin: 'https://localhost@evil.example' },
    { host: 'evil.example@localhost' },
    { host: 'evil.example#localhost' },
    { host: '' },
    {},
  ])('%j is refused', (headers) => {
    expect(refusal('127.0.0.1', headers)).toEqual(expect.any(String));
    expect(refusal('::1', headers)).toEqual(expect.any(String));
  });
});

describe('over a network', () => {
  it.each([
    { host: 'any.name:18090' },
    { host: 'any.name', authorization: 'Bearer token' },
    { host: '10.0.0.5:18090', origin: 'http://10.0.0.5:18090' },
    { host: 'mesh.example', origin: 'https://mesh.example' },
  ])('%j is answered', (headers) => {
    expect(refusal('10.0.0.5', headers)).toBeUndefined();
  });

  it.each([
    { host: 'evil.example:18090', origin: 'http://evil.example:18090' },
    { host: 'evil.example:18090', cookie: 'a=b' },
    { host: '10.0.0.5:18090', origin: 'http://10.0.0.6:18090' },
    { host: '10.0.0.5:18090', origin: 'https://evil.example', authorization: 'Bearer token' },
  ])('%j is refused', (headers) => {
    expect(refusal('10.0.0.5', headers)).toEqual(expect.any(String));
  });
});

it('a refusal says what to add where', () => {
  expect(refusal('127.0.0.1', { host: 'vpn.example:8443' })).toBe(
    'This control plane does not answer as vpn.example: if that is a name of it, add http://vpn.example:8443 to app.publicUrls in config.yaml and start it again.',
  );
  expect(refusal('10.0.0.5', { host: '10.0.0.5', origin: 'https://vpn.example' })).toBe(
    'Pages of https://vpn.example may not use this control plane: if one is its own, add its address to app.publicUrls in config.yaml and start it again.',
  );
});
