import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base32, matchingStep, otpCode, otpStep, otpUri } from './otp.ts';

/** RFC 6238, appendix B: the secret of SHA-1, and what it gives at these seconds. */
const SECRET = new TextEncoder().encode('12345678901234567890');

describe('one-time codes', () => {
  it.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('at second %i are those of RFC 6238', (second, code) => {
    expect(otpCode(SECRET, otpStep(second * 1_000), 8)).toBe(code);
  });

  it.each(
    ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871', '520489'].map(
      (code, count) => [count, code] as const,
    ),
  )('of count %i are those of RFC 4226', (count, code) => {
    expect(otpCode(SECRET, count)).toBe(code);
  });

  it('are good one step early and one late, and no further', () => {
    const now = 1_000 * 30_000;
    const good = [-2, -1, 0, 1, 2].map((off) => matchingStep(SECRET, otpCode(SECRET, 1_000 + off), now, 0));
    expect(good).toEqual([undefined, 999, 1_000, 1_001, undefined]);
  });

  it('are good once, and after one that is newer no more', () => {
    const now = 1_000 * 30_000;
    expect(matchingStep(SECRET, otpCode(SECRET, 1_000), now, 1_000)).toBeUndefined();
    expect(matchingStep(SECRET, otpCode(SECRET, 999), now, 1_000)).toBeUndefined();
    expect(matchingStep(SECRET, otpCode(SECRET, 1_001), now, 1_000)).toBe(1_001);
  });

  it('are six digits and nothing else', () => {
    const right = otpCode(SECRET, 1_000);
    for (const text of ['', right.slice(1), `${right}0`, ` ${right}`, '١٢٣٤٥٦', `${right}\n`]) {
      expect(matchingStep(SECRET, text, 1_000 * 30_000, 0)).toBeUndefined();
    }
  });
});

describe('base32', () => {
  it.each([
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ])('of "%s" is that of RFC 4648 without padding', (text, coded) => {
    expect(base32(new TextEncoder().encode(text))).toBe(coded);
  });

  it('has a digit for each five bits', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
        const padded = bits.padEnd(Math.ceil(bits.length / 5) * 5, '0');
        const digits = padded.match(/.{5}/g) ?? [];
        const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
        expect(base32(bytes)).toBe(digits.map((digit) => alphabet[Number.parseInt(digit, 2)]).join(''));
      }),
    );
  });
});

it('an address for apps names the installation, the account and all that they have to know', () => {
  const uri = new URL(otpUri(SECRET, 'ada@example.com', 'mesh.example.com:8443'));
  expect(uri.protocol + uri.host).toBe('otpauth:totp');
  expect(decodeURIComponent(uri.pathname)).toBe('/Mesh mesh.example.com:8443:ada@example.com');
  expect(Object.fromEntries(uri.searchParams)).toEqual({
    secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
    issuer: 'Mesh mesh.example.com:8443',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  });
});
