import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatIp, parseIp } from '../../platform/ip.ts';
import { decodeXorAddress, encodeXorAddress } from './address.ts';
import {
  ATTRIBUTES,
  BINDING,
  checkFingerprint,
  decodeErrorCode,
  decodeStun,
  encodeErrorCode,
  encodeStun,
  hasIntegrity,
  type StunMessage,
  unknownAttributes,
} from './message.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'));
const utf8 = (text: string) => Uint8Array.from(Buffer.from(text));
const PASSWORD = utf8('VOkJxbRl1RmTxUk/WvJxBt');

// RFC 5769 sections 2.1 to 2.4.
const REQUEST = hex(`00010058 2112a442 b7e7a701 bc34d686 fa87dfae 80220010 5354554e 20746573 7420636c 69656e74
  00240004 6e0001ff 80290008 932ff9b1 51263b36 00060009 6576746a 3a683676 59202020 00080014 9aeaa70c bfd8cb56
  781ef2b5 b2d3f249 c1b571a2 80280004 e57a3bcf`);
const RESPONSE_IPV4 = hex(`0101003c 2112a442 b7e7a701 bc34d686 fa87dfae 8022000b 74657374 20766563 746f7220
  00200008 0001a147 e112a643 00080014 2b91f599 fd9e90c3 8c7489f9 2af9ba53 f06be7d7 80280004 c07d4c96`);
const RESPONSE_IPV6 = hex(`01010048 2112a442 b7e7a701 bc34d686 fa87dfae 8022000b 74657374 20766563 746f7220
  00200014 0002a147 0113a9fa a5d3f179 bc25f4b5 bed2b9d9 00080014 a382954e 4be67bf1 1784c97c 8292c275 bfe3ed41
  80280004 c8fb0b4c`);
const REQUEST_LONG_TERM = hex(`00010060 2112a442 78ad3433 c6ad72c0 29da412e 00060012 e3839ee3 8388e383 aae38383
  e382afe3 82b90000 0015001c 662f2f34 39396b39 35346436 4f4c3334 6f4c3946 53547679 36347341 0014000b 6578616d
  706c652e 6f726700 00080014 f6702465 6dd64a3e 02b8e071 2e85c9a2 8ca89666`);

describe('RFC 5769', () => {
  test('the sample request is read, with its integrity and fingerprint', () => {
    expect(decodeStun(REQUEST)).toEqual({
      class: 'request',
      method: BINDING,
      transactionId: hex('b7e7a701bc34d686fa87dfae'),
      attributes: [
        { type: ATTRIBUTES.software, value: utf8('STUN test client') },
        { type: ATTRIBUTES.priority, value: hex('6e0001ff') },
        { type: ATTRIBUTES.iceControlled, value: hex('932ff9b151263b36') },
        { type: ATTRIBUTES.username, value: utf8('evtj:h6vY') },
        { type: ATTRIBUTES.messageIntegrity, value: hex('9aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2') },
        { type: ATTRIBUTES.fingerprint, value: hex('e57a3bcf') },
      ],
    });
    expect([hasIntegrity(REQUEST, PASSWORD), checkFingerprint(REQUEST)]).toEqual([true, 'right']);
  });

  test.each([
    ['IPv4', RESPONSE_IPV4, '192.0.2.1'],
    ['IPv6', RESPONSE_IPV6, '2001:db8:1234:5678:11:2233:4455:6677'],
  ])('the sample %s response is read and holds the mapped address', (_, bytes, ip) => {
    const message = decodeStun(bytes);
    const mapped = message?.attributes.find(({ type }) => type === ATTRIBUTES.xorMappedAddress);
    const address = message && mapped && decodeXorAddress(mapped.value, message.transactionId);
    expect(address && { ip: formatIp(address.ip), port: address.port }).toEqual({ ip, port: 32_853 });
    expect([hasIntegrity(bytes, PASSWORD), checkFingerprint(bytes)]).toEqual([true, 'right']);
    expect(message && address && encodeXorAddress(address.ip, address.port, message.transactionId)).toEqual(
      mapped?.value,
    );
  });

  test('the request with long-term credentials has its integrity', () => {
    const key = createHash('md5').update('マトリックス:example.org:TheMatrIX').digest();
    expect([hasIntegrity(REQUEST_LONG_TERM, key), checkFingerprint(REQUEST_LONG_TERM)]).toEqual([true, 'absent']);
  });

  test('another key or any changed byte breaks integrity or fingerprint', () => {
    expect(hasIntegrity(REQUEST, utf8('wrong'))).toBe(false);
    for (let at = 0; at < REQUEST.length; at++) {
      const changed = Uint8Array.from(REQUEST);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(hasIntegrity(changed, PASSWORD) && checkFingerprint(changed) === 'right').toBe(false);
    }
  });
});

describe('codec', () => {
  const attribute = fc.record({ type: fc.nat(0xffff), value: fc.uint8Array({ maxLength: 40 }) });
  const message: fc.Arbitrary<StunMessage> = fc.record({
    class: fc.constantFrom('request' as const, 'indication' as const, 'success' as const, 'error' as const),
    method: fc.nat(0xfff),
    transactionId: fc.uint8Array({ minLength: 12, maxLength: 12 }),
    attributes: fc.array(attribute, { maxLength: 6 }),
  });

  test('every message comes back from its bytes', () => {
    fc.assert(fc.property(message, (value) => void expect(decodeStun(encodeStun(value))).toEqual(value)));
  });

  test('what is added at the end of any message verifies', () => {
    const plain = message.map((value) => ({ ...value, attributes: value.attributes.filter(({ type }) => type > 8) }));
    fc.assert(
      fc.property(plain, (value) => {
        const unmarked = { ...value, attributes: value.attributes.filter((it) => it.type !== ATTRIBUTES.fingerprint) };
        const bytes = encodeStun(unmarked, { integrityKey: PASSWORD, fingerprint: true });
        expect([hasIntegrity(bytes, PASSWORD), checkFingerprint(bytes)]).toEqual([true, 'right']);
        expect(decodeStun(bytes)?.attributes.slice(0, -2)).toEqual(unmarked.attributes);
      }),
    );
  });

  test('a code of an error comes back from its bytes, and any bytes are a code or none', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 300, max: 699 }),
        fc.string(),
        fc.uint8Array({ maxLength: 8 }),
        (code, text, any) => {
          expect(decodeErrorCode(encodeErrorCode(code, text))).toBe(code);
          expect(decodeErrorCode(any) === undefined).toBe(any.length < 4);
        },
      ),
    );
  });

  test('attributes that must be understood and are not are found in any message', () => {
    fc.assert(
      fc.property(message, (value) => {
        const required = value.attributes.map(({ type }) => type).filter((type) => type < 0x8000 && type !== 0x0006);
        const hasFingerprint = value.attributes.some(({ type }) => type === ATTRIBUTES.fingerprint);
        fc.pre(!hasFingerprint);
        expect(unknownAttributes(encodeStun(value), new Set([0x0006]), 4)).toEqual(required.slice(0, 4));
      }),
    );
  });

  test('nothing malformed is read and nothing throws', () => {
    const cut = fc.nat(REQUEST.length - 1).map((length) => REQUEST.subarray(0, length));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 120 }), cut), (bytes) => decodeStun(bytes) === undefined),
    );
    const mutated = fc.tuple(fc.nat(REQUEST.length - 1), fc.nat(255)).map(([at, value]) => REQUEST.with(at, value));
    fc.assert(
      fc.property(mutated, (bytes) => {
        decodeStun(bytes);
        hasIntegrity(bytes, PASSWORD);
        checkFingerprint(bytes);
      }),
    );
  });
});

describe('addresses', () => {
  test.each([
    ['192.0.2.1', 'c0000201'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['2001:db8::1:0:0:1', '20010db8000000000001000000000001'],
    ['fe80::1%eth0', 'fe800000000000000000000000000001'],
    ['::ffff:192.0.2.1', '00000000000000000000ffffc0000201'],
  ])('%s is %s', (text, bytes) => {
    expect(parseIp(text)).toEqual(hex(bytes));
  });

  test.each(['', '1.2.3', '1.2.3.4.5', '256.1.1.1', '1..2.3', 'x', ':::', '1::2::3', '12345::', '1:2:3:4:5:6:7'])(
    '"%s" is no address',
    (text) => {
      expect(parseIp(text)).toBeUndefined();
    },
  );

  test('every address comes back from its text', () => {
    const ip = fc.oneof(fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.uint8Array({ minLength: 16, maxLength: 16 }));
    const sparse = fc
      .array(fc.constantFrom(0, 0, 0, 1), { minLength: 16, maxLength: 16 })
      .map((v) => Uint8Array.from(v));
    fc.assert(fc.property(fc.oneof(ip, sparse), (bytes) => void expect(parseIp(formatIp(bytes))).toEqual(bytes)));
  });
});
