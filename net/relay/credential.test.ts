import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatRelayAddress, parseRelayAddress, redirectRelay } from './address.ts';
import { checkCredential, decodeCredential, mintCredential, relayKeysOf, workspaceTagOf } from './credential.ts';

const keys = relayKeysOf('shared-token');
const grant = {
  workspace: workspaceTagOf('w_aaaaaaaaaaaaaaaaaaaaaaaaaa'),
  publicKey: new Uint8Array(32).fill(7),
  expiresAt: 1_800_000_000_000,
};
const text = mintCredential(keys, grant);
const bytes = decodeCredential(text) ?? new Uint8Array();

describe('relay credential', () => {
  test('it has these bytes: version, workspace, key, expiry, mac', () => {
    expect(
      Buffer.from(bytes)
        .toString('hex')
        .match(/^(..)(.{32})(.{64})(.{16})(.{64})$/)
        ?.slice(1),
    ).toEqual([
      '01',
      'df98f5edf209cba03a540ef4ca315297',
      '07'.repeat(32),
      '000001a3185c5000',
      'f2db30220103d4150a40bf44323b23427319f1eceeaa9d7be6f2c0da0106fc26',
    ]);
  });

  test('a genuine credential is accepted offline until the instant it ends', () => {
    expect(checkCredential(keys, bytes, grant.expiresAt - 1)).toEqual({ ok: true, grant });
    expect(checkCredential(keys, bytes, grant.expiresAt)).toEqual({ ok: false, reason: 'expired' });
  });

  test('every grant comes back from its credential', () => {
    const some = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
    const expiresAt = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(fc.record({ workspace: some(16), publicKey: some(32), expiresAt }), (given) => {
        const credential = decodeCredential(mintCredential(keys, given)) ?? new Uint8Array();
        expect(checkCredential(keys, credential, 0)).toEqual({ ok: true, grant: given });
      }),
    );
  });

  test('any changed bit and any other token make it forged or malformed', () => {
    const outcomes = new Set<string>();
    for (let at = 0; at < bytes.length; at++) {
      const forged = Uint8Array.from(bytes);
      forged[at] = (forged[at] ?? 0) ^ 1;
      const check = checkCredential(keys, forged, 0);
      outcomes.add(check.ok ? 'ok' : check.reason);
    }
    expect(outcomes).toEqual(new Set(['malformed', 'forged']));
    expect(checkCredential(relayKeysOf('other'), bytes, 0)).toEqual({ ok: false, reason: 'forged' });
  });

  test('random bytes are never accepted and never throw', () => {
    const input = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ minLength: 89, maxLength: 89 }));
    fc.assert(fc.property(input, (random) => !checkCredential(keys, random, 0).ok));
    fc.assert(fc.property(fc.string(), (random) => decodeCredential(random) === undefined));
  });

  test('an empty shared token is refused', () => {
    expect(() => relayKeysOf('')).toThrow('MESH_LRP_AUTH_TOKEN');
  });
});

describe('relay address', () => {
  test.each([
    [`lrp://${text}@relay.example:6266`, { host: 'relay.example', port: 6266, secure: false, credential: text }],
    [`lrps://${text}@[2001:db8::1]:443`, { host: '2001:db8::1', port: 443, secure: true, credential: text }],
    ['192.0.2.1:7000', { host: '192.0.2.1', port: 7000, secure: false }],
    ['relay.example', { host: 'relay.example', port: 6266, secure: false }],
  ])('%s is understood', (input, address) => {
    expect(parseRelayAddress(input)).toEqual(address);
    expect(parseRelayAddress(formatRelayAddress(address))).toEqual(address);
  });

  test.each(['', 'http://relay.example', 'lrp://nonsense@relay.example:1', 'relay:99999', 'lrp://a/b', 'a b'])(
    '"%s" is refused',
    (input) => {
      expect(parseRelayAddress(input)).toBeUndefined();
    },
  );

  test('another place keeps the credential', () => {
    const given = { host: 'relay.example', port: 6266, secure: false, credential: text };
    const override = { host: '10.0.0.1', port: 7000, secure: false };
    expect(redirectRelay(given, override)).toEqual({ ...override, credential: text });
    const secure = { secure: true, certifiedHost: 'relay.example' };
    expect(redirectRelay({ ...given, secure: true }, override)).toEqual({ ...override, ...secure, credential: text });
  });
});
