import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_COALESCED } from '../../platform/segments.ts';
import { viewOf } from './frame.ts';
import type { Hello } from './handshake.ts';
import { decodeMessage, encodeMessage, type Receiver, type RelayMessage, writeForward } from './message.ts';
import { BYE_REASONS, type ByeReason, byeReasonOf } from './reasons.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const utf8 = (text: string) => Uint8Array.from(Buffer.from(text));
const decode = (receiver: Receiver, frame: Uint8Array) =>
  decodeMessage(receiver, frame, viewOf(frame), 0, frame.length);

const RECEIVERS: readonly Receiver[] = ['relay', 'node', 'control'];
const key = new Uint8Array(32).fill(0xaa);
const workspace = new Uint8Array(16).fill(2);
const peer = 0x0123456789abcdefn;

const WIRE: readonly { message: RelayMessage; to: readonly Receiver[]; wire: string }[] = [
  {
    message: {
      type: 'hello',
      hello: { mode: 'credential', publicKey: key, credential: new Uint8Array(89).fill(1) },
    },
    to: ['relay'],
    wire: `010100000000007a000000000000000001${'aa'.repeat(32)}${'01'.repeat(89)}`,
  },
  {
    message: { type: 'hello', hello: { mode: 'token', publicKey: key, workspace } },
    to: ['relay'],
    wire: `0101000000000031000000000000000002${'aa'.repeat(32)}${'02'.repeat(16)}`,
  },
  {
    message: { type: 'hello', hello: { mode: 'control' } },
    to: ['relay'],
    wire: '0101000000000001000000000000000003',
  },
  {
    message: { type: 'challenge', challenge: { nonce: new Uint8Array(32).fill(1), relayKey: key } },
    to: ['node', 'control'],
    wire: `01020000000000400000000000000000${'01'.repeat(32)}${'aa'.repeat(32)}`,
  },
  {
    message: { type: 'proof', macs: new Uint8Array(64).fill(3) },
    to: ['relay'],
    wire: `01030000000000400000000000000000${'03'.repeat(64)}`,
  },
  {
    message: {
      type: 'ready',
      peer,
      keepaliveMs: 20_000,
      deadMs: 45_000,
      maxPayload: 65_520,
      expiresAt: 1_800_000_000_000,
    },
    to: ['node', 'control'],
    wire: '01040000000000140123456789abcdef00004e200000afc80000fff0000001a3185c5000',
  },
  {
    message: { type: 'forward', peer, packets: utf8('hi'), segment: 0, takesCoalesced: false },
    to: ['relay', 'node'],
    wire: '01050000000000020123456789abcdef6869',
  },
  {
    message: { type: 'forward', peer, packets: utf8('hi'), segment: 0, takesCoalesced: true },
    to: ['relay', 'node'],
    wire: '01050001000000020123456789abcdef6869',
  },
  {
    message: { type: 'forward', peer, packets: utf8('this that'), segment: 5, takesCoalesced: true },
    to: ['relay', 'node'],
    wire: `01050005000000090123456789abcdef${hex(utf8('this that'))}`,
  },
  { message: { type: 'keepalive' }, to: ['relay', 'node'], wire: '01060000000000000000000000000000' },
  {
    message: { type: 'keepalive-reply' },
    to: ['relay', 'node', 'control'],
    wire: '01060001000000000000000000000000',
  },
  {
    message: { type: 'probe', peer: 2n ** 64n - 1n, echo: utf8('x') },
    to: ['relay'],
    wire: '0107000000000001ffffffffffffffff78',
  },
  {
    message: { type: 'probe-reply', peer, isPresent: true, echo: utf8('x') },
    to: ['node'],
    wire: '01070001000000020123456789abcdef0178',
  },
  {
    message: { type: 'bye', reason: 'restart', retryAfterMs: 1_500 },
    to: ['relay', 'node', 'control'],
    wire: '0108000000000005000000000000000004000005dc',
  },
  {
    message: { type: 'renew', credential: new Uint8Array(89).fill(1) },
    to: ['relay'],
    wire: `01090000000000590000000000000000${'01'.repeat(89)}`,
  },
  {
    message: { type: 'revoke', member: { publicKey: key, workspace }, until: 1_800_000_000_000 },
    to: ['relay'],
    wire: `010a0000000000380000000000000000${'aa'.repeat(32)}${'02'.repeat(16)}000001a3185c5000`,
  },
  {
    message: { type: 'revoke-reply', publicKey: key },
    to: ['control'],
    wire: `010a0001000000200000000000000000${'aa'.repeat(32)}`,
  },
];

describe('messages of the relay', () => {
  test.each(WIRE)('$message.type has these bytes and comes back from them to $to alone', ({ message, to, wire }) => {
    expect(hex(encodeMessage(message))).toBe(wire);
    for (const receiver of RECEIVERS) {
      expect(decode(receiver, bytesOf(wire))).toEqual(to.includes(receiver) ? message : 'out-of-place');
    }
  });

  test('a forward frame written in place has the same bytes', () => {
    const slab = new Uint8Array(40);
    for (const [text, segment] of [
      ['hi', 0],
      ['this that', 5],
    ] as const) {
      const end = writeForward(slab, viewOf(slab), 3, peer, utf8(text), segment);
      const packets = utf8(text);
      expect(slab.slice(3, end)).toEqual(
        encodeMessage({ type: 'forward', peer, packets, segment, takesCoalesced: true }),
      );
    }
  });

  test('every message comes back from its bytes', () => {
    fc.assert(
      fc.property(anyMessage(), (message) => {
        const frame = encodeMessage(message);
        const decoded = RECEIVERS.map((receiver) => decode(receiver, frame)).filter((it) => it !== 'out-of-place');
        expect(decoded.length).toBeGreaterThan(0);
        for (const it of decoded) expect(it).toEqual(message);
      }),
    );
  });

  test('any bytes are a message or a refusal', () => {
    const header = fc
      .tuple(fc.nat(12), fc.nat(0xffff), fc.uint8Array({ maxLength: 150 }))
      .map(([type, flags, payload]) =>
        Uint8Array.from([1, type, flags >> 8, flags & 255, ...new Uint8Array(12), ...payload]),
      );
    const frame = fc.oneof(header, fc.uint8Array({ minLength: 16, maxLength: 150 }));
    const refusals = ['unknown-type', 'out-of-place', 'malformed', 'too-many-packets'];
    fc.assert(
      fc.property(frame, fc.constantFrom(...RECEIVERS), (bytes, receiver) => {
        const decoded = decode(receiver, bytes);
        if (typeof decoded === 'string') expect(refusals).toContain(decoded);
        // What was understood can be said again, and is understood in the same way.
        else expect(decode(receiver, encodeMessage(decoded))).toEqual(decoded);
      }),
    );
  });

  test.each([
    ['a type of a later version', '01ff0000000000000000000000000000', 'node', 'unknown-type'],
    ['a hello of an unknown mode', '0101000000000001000000000000000009', 'relay', 'malformed'],
    ['a challenge that is cut', `01020000000000200000000000000000${'01'.repeat(32)}`, 'node', 'malformed'],
    ['an echo that is too long', `01070000000000410000000000000000${'33'.repeat(65)}`, 'relay', 'malformed'],
    ['a bye without a reason', '01080000000000000000000000000000', 'node', 'malformed'],
  ] as const)('%s is refused', (_, wire, receiver, refusal) => {
    expect(decode(receiver, bytesOf(wire))).toBe(refusal);
  });

  test('more coalesced packets than there may be are refused, and are nobody else’s fault', () => {
    const packets = new Uint8Array(2 * (MAX_COALESCED + 1));
    const frame = encodeMessage({ type: 'forward', peer, packets, segment: 2, takesCoalesced: true });
    expect(decode('node', frame)).toBe('too-many-packets');
  });

  test('what a later version adds behind ready and bye is passed over', () => {
    for (const message of [
      { type: 'ready', peer: 0n, keepaliveMs: 1, deadMs: 2, maxPayload: 3, expiresAt: 4 },
      { type: 'bye', reason: 'limit', retryAfterMs: 5 },
    ] as const) {
      expect(decode('node', Uint8Array.from([...encodeMessage(message), 9, 9]))).toEqual(message);
    }
  });

  test('a reason of a later version counts as normal', () => {
    expect(byeReasonOf(200)).toBe('normal');
  });
});

function anyMessage(): fc.Arbitrary<RelayMessage> {
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const id = fc.bigInt(0n, 2n ** 64n - 1n);
  const uint32 = fc.nat(0xffffffff);
  const instant = fc.nat(Number.MAX_SAFE_INTEGER);
  const echo = fc.uint8Array({ maxLength: 64 });
  const type = <T extends RelayMessage['type']>(name: T) => fc.constant(name);
  const hello: fc.Arbitrary<Hello> = fc.oneof(
    fc.record({ mode: fc.constant('credential' as const), publicKey: bytes(32), credential: bytes(89) }),
    fc.record({ mode: fc.constant('token' as const), publicKey: bytes(32), workspace: bytes(16) }),
    fc.constant({ mode: 'control' as const }),
  );
  const coalesced = fc
    .tuple(fc.integer({ min: 2, max: 200 }), fc.integer({ min: 1, max: MAX_COALESCED }))
    .chain(([segment, count]) =>
      // The last packet is perhaps shorter, and there is more than one.
      fc.integer({ min: segment + 1, max: Math.max(segment + 1, segment * count) }).chain((length) =>
        fc.record({
          type: type('forward'),
          peer: id,
          packets: bytes(length),
          segment: fc.constant(segment),
          takesCoalesced: fc.constant(true),
        }),
      ),
    );
  const anyOf: { readonly [T in RelayMessage['type']]: fc.Arbitrary<Extract<RelayMessage, { type: T }>> } = {
    hello: fc.record({ type: type('hello'), hello }),
    challenge: fc.record({
      type: type('challenge'),
      challenge: fc.record({ nonce: bytes(32), relayKey: bytes(32) }),
    }),
    proof: fc.record({ type: type('proof'), macs: fc.uint8Array({ maxLength: 96 }) }),
    ready: fc.record({
      type: type('ready'),
      peer: id,
      keepaliveMs: uint32,
      deadMs: uint32,
      maxPayload: uint32,
      expiresAt: instant,
    }),
    forward: fc.oneof(
      coalesced,
      fc.record({
        type: type('forward'),
        peer: id,
        packets: fc.uint8Array({ maxLength: 200 }),
        segment: fc.constant(0),
        takesCoalesced: fc.boolean(),
      }),
    ),
    keepalive: fc.record({ type: type('keepalive') }),
    'keepalive-reply': fc.record({ type: type('keepalive-reply') }),
    probe: fc.record({ type: type('probe'), peer: id, echo }),
    'probe-reply': fc.record({ type: type('probe-reply'), peer: id, isPresent: fc.boolean(), echo }),
    bye: fc.record({
      type: type('bye'),
      reason: fc.constantFrom(...(Object.keys(BYE_REASONS) as ByeReason[])),
      retryAfterMs: uint32,
    }),
    renew: fc.record({ type: type('renew'), credential: fc.uint8Array({ maxLength: 100 }) }),
    revoke: fc.record({
      type: type('revoke'),
      member: fc.record({ publicKey: bytes(32), workspace: bytes(16) }),
      until: instant,
    }),
    'revoke-reply': fc.record({ type: type('revoke-reply'), publicKey: bytes(32) }),
  };
  return fc.oneof(...Object.values(anyOf));
}
