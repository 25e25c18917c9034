import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeIce,
  encodeCheck,
  encodeLost,
  encodeRoleConflict,
  encodeSuccess,
  isSignedWith,
} from './check-message.ts';

const transactionId = Uint8Array.from(Buffer.from('b7e7a701bc34d686fa87dfae', 'hex'));
const local = { ufrag: 'h6vY', pwd: 'sender-password-of-22+' };
const remote = { ufrag: 'evtj', pwd: 'VOkJxbRl1RmTxUk/WvJxBt' };
const check = encodeCheck({
  transactionId,
  local,
  remote,
  priority: 0x6e0001ff,
  role: 'controlled',
  tieBreaker: 0x932ff9b151263b36n,
  isNominating: false,
});

/** RFC 5769 section 2.1: a check of another implementation, with a SOFTWARE attribute. */
const RFC_5769_REQUEST = Buffer.from(
  '000100582112a442b7e7a701bc34d686fa87dfae802200105354554e207465737420636c69656e74002400046e0001ff80290008932ff9b151263b36' +
    '000600096576746a3a68367659202020000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a280280004e57a3bcf',
  'hex',
);

describe('messages of ICE', () => {
  test('a check says who checks whom, and is signed with the password of the one checked', () => {
    expect(decodeIce(check)).toEqual({
      kind: 'check',
      transactionId,
      ufrags: ['evtj', 'h6vY'],
      priority: 0x6e0001ff,
      role: 'controlled',
      tieBreaker: 0x932ff9b151263b36n,
      isNominating: false,
      isOnlyPath: false,
    });
    expect([isSignedWith(check, remote.pwd), isSignedWith(check, local.pwd)]).toEqual([true, false]);
  });

  test('the sample check of another implementation is read and believed', () => {
    expect(decodeIce(RFC_5769_REQUEST)).toEqual(decodeIce(check));
    expect(isSignedWith(RFC_5769_REQUEST, remote.pwd)).toBe(true);
  });

  test('a nominating check of the controlling side is told apart', () => {
    const fields = { transactionId, local, remote, priority: 1, tieBreaker: 1n };
    const nominating = encodeCheck({ ...fields, role: 'controlling', isNominating: true });
    expect(decodeIce(nominating)).toMatchObject({ role: 'controlling', isNominating: true });
  });

  test('a full check has the size of the largest packet of WireGuard, and reads as any other', () => {
    const fields = { transactionId, local, remote, priority: 1, tieBreaker: 1n, role: 'controlled' as const };
    const full = encodeCheck({ ...fields, isNominating: false, isFull: true });
    expect([full.length, decodeIce(full)]).toEqual([1_312, decodeIce(encodeCheck({ ...fields, isNominating: false }))]);
    expect(isSignedWith(full, remote.pwd)).toBe(true);
  });

  test.each(['192.0.2.1', '2001:db8::1'])('an answer brings the address %s back', (address) => {
    const answer = encodeSuccess(transactionId, { address, port: 32_853 }, remote.pwd) ?? new Uint8Array();
    expect(decodeIce(answer)).toEqual({ kind: 'success', transactionId, mapped: { address, port: 32_853 } });
    expect(isSignedWith(answer, remote.pwd)).toBe(true);
  });

  test('a role conflict and a loss come back as what they are', () => {
    expect(decodeIce(encodeRoleConflict(transactionId, remote.pwd))).toEqual({ kind: 'role-conflict', transactionId });
    for (const cause of ['silence', 'large-packets'] as const) {
      const lost = encodeLost(transactionId, local, remote, cause);
      expect(decodeIce(lost)).toEqual({ kind: 'lost', ufrags: ['evtj', 'h6vY'], cause });
    }
  });

  test('without a signature or a fingerprint there is no message', () => {
    const withoutFingerprint = Uint8Array.from(check.subarray(0, check.length - 8));
    new DataView(withoutFingerprint.buffer).setUint16(2, withoutFingerprint.length - 20);
    expect([decodeIce(withoutFingerprint), decodeIce(check.subarray(0, 20))]).toEqual([undefined, undefined]);
  });

  test('random bytes and bent messages never throw, and no bent one is believed', () => {
    const bent = fc.tuple(fc.nat(check.length - 1), fc.integer({ min: 1, max: 255 })).map(([at, mask]) => {
      const bytes = Uint8Array.from(check);
      bytes[at] = (bytes[at] ?? 0) ^ mask;
      return bytes;
    });
    const input = fc.oneof(fc.uint8Array({ maxLength: 120 }), bent);
    fc.assert(
      fc.property(input, (bytes) => {
        const message = decodeIce(bytes);
        // Unsigned parts, such as the length of the fingerprint, may differ; the content may not.
        if (message && isSignedWith(bytes, remote.pwd)) expect(message).toEqual(decodeIce(check));
      }),
    );
  });
});
