import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { publicKeySchema } from './public-key-schema.ts';

const { publicKey } = generateKeyPairSync('x25519');
const KEY = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
const withTopBit = Buffer.from(KEY);
withTopBit[31] = (withTopBit[31] ?? 0) | 0x80;

function flawOf(text: string): string | undefined {
  return publicKeySchema.safeParse(text).error?.issues[0]?.message;
}

test('a key is taken as `wg pubkey` writes it, and each other spelling of it is refused with that one', () => {
  const canonical = KEY.toString('base64');
  expect(flawOf(canonical)).toBeUndefined();
  const unpadded = canonical.slice(0, -1);
  // The last character before the padding has two spare bits.
  const spare = `${unpadded.slice(0, -1)}${String.fromCharCode(unpadded.charCodeAt(42) + 1)}=`;
  for (const other of [unpadded, withTopBit.toString('base64'), spare]) {
    expect([other, flawOf(other)]).toEqual([other, expect.stringContaining(`send the same key as ${canonical}`)]);
  }
});

test('the spelling that is offered is the same key to X25519', () => {
  const jwk = { kty: 'OKP', crv: 'X25519' } as const;
  const other = createPrivateKey(generateKeyPairSync('x25519').privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const shared = (bytes: Buffer) =>
    diffieHellman({
      privateKey: other,
      publicKey: createPublicKey({ key: { ...jwk, x: bytes.toString('base64url') }, format: 'jwk' }),
    }).toString('hex');
  expect(flawOf(withTopBit.toString('base64'))).toContain('has its top bit set');
  expect(shared(withTopBit)).toBe(shared(KEY));
});

const P = 2n ** 255n - 19n;
const bytesOf = (point: bigint) => Buffer.from(point.toString(16).padStart(64, '0'), 'hex').reverse();

test.each([
  1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
  P - 1n,
  P,
  P + 1n,
])('a point with which X25519 gives everybody the same secret is refused: %s', (point) => {
  const jwk = { kty: 'OKP', crv: 'X25519', x: bytesOf(point).toString('base64url') };
  const { privateKey } = generateKeyPairSync('x25519');
  // OpenSSL refuses what comes out as zero.
  expect(() => diffieHellman({ privateKey, publicKey: createPublicKey({ key: jwk, format: 'jwk' }) })).toThrow();
  expect(flawOf(bytesOf(point).toString('base64'))).toMatch(/low order.*wg genkey/);
});

test('a number beyond the prime, which no device makes, is refused', () => {
  expect(flawOf(bytesOf(P + 9n).toString('base64'))).toMatch(/beyond the prime/);
});

test.each([
  ['', /44 characters/],
  ['abc', /44 characters/],
  [Buffer.alloc(33, 1).toString('base64'), /44 characters/],
  [Buffer.alloc(32).toString('base64'), /all zeros/],
])('%j is refused with what to send', (text, why) => {
  expect(flawOf(text)).toMatch(why);
});
