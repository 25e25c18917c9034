import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { containsRange, overlaps, parseAddress, parseCidr, parseRange } from './cidr.ts';

describe('cidr', () => {
  test.each([
    ['10.96.0.0/24', { family: 4, from: 0x0a600000n, to: 0x0a6000ffn }],
    ['10.96.0.7/24', { family: 4, from: 0x0a600000n, to: 0x0a6000ffn }],
    ['0.0.0.0/0', { family: 4, from: 0n, to: 0xffffffffn }],
    ['::/0', { family: 6, from: 0n, to: (1n << 128n) - 1n }],
    ['fd6c:7270::/32', { family: 6, from: 0xfd6c7270n << 96n, to: (0xfd6c7271n << 96n) - 1n }],
    ['::ffff:1.2.3.4/128', { family: 6, from: 0xffff01020304n, to: 0xffff01020304n }],
  ])('reads %s', (text, expected) => {
    expect(parseCidr(text)).toEqual(expected);
  });

  test.each([
    '',
    '/',
    '10.0.0.0',
    '10.0.0/8',
    '10.0.0.0/33',
    '10.0.0.256/8',
    '010.0.0.0/8',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    ' 10.0.0.0/8',
    '::/129',
    ':::/0',
    '1::2::3/64',
    '1:2:3:4:5:6:7/64',
    '1:2:3:4:5:6:7:8:9/64',
    '12345::/16',
    '1.2.3.4::/16',
    '1:2:3:4:5:6:7:1.2.3.4/64',
  ])('refuses %j', (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });

  test('a range may be written as a CIDR, one address or two', () => {
    expect(
      ['10.0.0.0/31', '10.0.0.1', '10.0.0.1-10.0.0.3', '10.0.0.3-10.0.0.1', '1.1.1.1-::1'].map(parseRange),
    ).toEqual([
      { family: 4, from: 0x0a000000n, to: 0x0a000001n },
      { family: 4, from: 0x0a000001n, to: 0x0a000001n },
      { family: 4, from: 0x0a000001n, to: 0x0a000003n },
      undefined,
      undefined,
    ]);
  });

  test('containment and overlap stay inside one family', () => {
    const outer = { family: 4, from: 5n, to: 10n } as const;
    expect(containsRange(outer, { family: 4, from: 6n, to: 10n })).toBe(true);
    expect(containsRange(outer, { family: 4, from: 6n, to: 11n })).toBe(false);
    expect(containsRange(outer, { family: 6, from: 6n, to: 7n })).toBe(false);
    expect(overlaps(outer, { family: 4, from: 10n, to: 20n })).toBe(true);
    expect(overlaps(outer, { family: 4, from: 11n, to: 20n })).toBe(false);
  });

  test('every generated address is read, and no text makes the parser throw', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.string(), (address, noise) => {
        expect(parseAddress(address)).toBeDefined();
        parseRange(noise);
      }),
    );
  });
});
