import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseIp } from '../../platform/ip.ts';
import { ATTRIBUTES, BINDING, decodeStun, encodeStun, type StunAttribute } from './message.ts';
import { SourceLimit } from './rate.ts';
import { StunServer } from './server.ts';

const hex = (bytes: Uint8Array | undefined) => (bytes ? Buffer.from(bytes).toString('hex') : undefined);
const transactionId = Uint8Array.from(Buffer.from('b7e7a701bc34d686fa87dfae', 'hex'));
/** A long run sets more: docs/fuzzing.md. */
const FUZZ_RUNS = Number(process.env['FUZZ_RUNS'] ?? 200);
const IPV4 = { address: '192.0.2.1', port: 32_853 };
const IPV6 = { address: '2001:db8:1234:5678:11:2233:4455:6677', port: 32_853 };

function handle(server: StunServer, datagram: Uint8Array, { address, port }: typeof IPV4, now: number) {
  return server.answer(datagram, parseIp(address) ?? new Uint8Array(), port, now)?.slice();
}

function request(attributes: readonly StunAttribute[] = [], fingerprint = false): Uint8Array {
  return encodeStun({ class: 'request', method: BINDING, transactionId, attributes }, { fingerprint });
}

describe('STUN server', () => {
  test.each([
    ['IPv4, in 32 bytes', IPV4, '0101000c2112a442b7e7a701bc34d686fa87dfae002000080001a147e112a643'],
    [
      'IPv6, in 44 bytes',
      IPV6,
      '010100182112a442b7e7a701bc34d686fa87dfae002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9',
    ],
  ])('a binding request is answered with the mapped address alone: %s', (_, source, expected) => {
    expect(hex(handle(new StunServer(), request(), source, 0))).toBe(expected);
  });

  test('attributes that are optional or of ICE do not change the answer', () => {
    const attributes = [
      { type: ATTRIBUTES.software, value: Buffer.from('client') },
      { type: ATTRIBUTES.username, value: Buffer.from('a:b') },
      { type: ATTRIBUTES.priority, value: Buffer.alloc(4) },
    ];
    const answer = handle(new StunServer(), request(attributes, true), IPV4, 0);
    expect(answer).toEqual(handle(new StunServer(), request(), IPV4, 0));
  });

  test('an attribute that must be understood and is not gets 420 with its type', () => {
    const answer = handle(new StunServer(), request([{ type: 0x0003, value: Buffer.alloc(4) }]), IPV4, 0);
    expect(answer && decodeStun(answer)).toEqual({
      class: 'error',
      method: BINDING,
      transactionId,
      attributes: [
        { type: ATTRIBUTES.errorCode, value: Uint8Array.of(0, 0, 4, 20) },
        { type: ATTRIBUTES.unknownAttributes, value: Uint8Array.of(0, 3) },
      ],
    });
  });

  test('other classes, other methods, malformed and odd messages get no answer', () => {
    const server = new StunServer();
    const valid = request([{ type: ATTRIBUTES.software, value: Buffer.alloc(4) }]);
    const beyond = Uint8Array.from(valid);
    beyond[23] = 200;
    const wrongFingerprint = request([], true);
    wrongFingerprint[27] = (wrongFingerprint[27] ?? 0) ^ 1;
    const datagrams = [
      ...(['indication', 'success', 'error'] as const).map((kind) =>
        encodeStun({ class: kind, method: BINDING, transactionId, attributes: [] }),
      ),
      encodeStun({ class: 'request', method: 3, transactionId, attributes: [] }),
      new Uint8Array(0),
      valid.subarray(0, 19),
      valid.subarray(0, 24),
      Uint8Array.from([...valid, 0]),
      valid.with(3, 9),
      valid.with(4, 0),
      beyond,
      wrongFingerprint,
      request([{ type: ATTRIBUTES.software, value: Buffer.alloc(2_000) }]),
    ];
    expect(datagrams.map((datagram) => handle(server, datagram, IPV4, 0))).toEqual(datagrams.map(() => undefined));
    expect(server.metrics()).toEqual({
      answered: 0,
      refused: 0,
      ignored: { malformed: 9, 'not-a-request': 4, rate: 0, 'bad-source': 0 },
      sources: 0,
    });
  });

  test('a source that cannot be answered is ignored', () => {
    const server = new StunServer();
    expect(handle(server, request(), { ...IPV4, port: 0 }, 0)).toBeUndefined();
  });

  test('random bytes never throw', () => {
    const server = new StunServer();
    const seed = request([{ type: 0x0003, value: Buffer.alloc(4) }], true);
    const mutated = fc.tuple(fc.nat(seed.length - 1), fc.nat(255)).map(([at, value]) => seed.with(at, value));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 80 }), mutated), (bytes) => {
        const answer = handle(server, bytes, IPV4, 0);
        expect(answer === undefined || answer.length <= bytes.length * 2).toBe(true);
      }),
      { numRuns: FUZZ_RUNS },
    );
  });
});

describe('rate limit', () => {
  const answersOf = (server: StunServer, count: number, source: { address: string }, now: number) =>
    Array.from({ length: count }, (_, n) => handle(server, request(), { ...source, port: 1 + n }, now)).filter(Boolean)
      .length;

  test('at least 16 at once and 40 a second are answered, not a flood, and other sources do not suffer', () => {
    const server = new StunServer();
    expect(answersOf(server, 1_000, IPV4, 0)).toBe(32);
    const sustained = Array.from({ length: 40 }, (_, n) => answersOf(server, 1, IPV4, (n + 1) * 25));
    expect(sustained.every((answers) => answers === 1)).toBe(true);
    expect(answersOf(server, 16, { address: '192.0.2.2' }, 1_000)).toBe(16);
  });

  test('the addresses of one IPv6 /64 share one limit', () => {
    const server = new StunServer();
    const sources = Array.from({ length: 100 }, (_, n) => ({ address: `2001:db8::${n.toString(16)}` }));
    expect(sources.reduce((sum, source) => sum + answersOf(server, 1, source, 0), 0)).toBe(32);
    expect(answersOf(server, 1, { address: '2001:db8:0:1::1' }, 0)).toBe(1);
  });

  test('the /64s of one IPv6 /48 share a limit of sixteen times as much, and one of them has its whole own', () => {
    const server = new StunServer();
    const at = (n: number) => ({ address: `2001:db8:7:${n.toString(16)}::1` });
    expect(answersOf(server, 16, at(1), 0)).toBe(16);
    const flood = Array.from({ length: 2_000 }, (_, n) => answersOf(server, 1, at(n + 2), 0));
    expect(flood.reduce((sum, answers) => sum + answers, 0)).toBe(16 * 32 - 16);
    expect(answersOf(server, 16, { address: '2001:db8:8::1' }, 0)).toBe(16);
  });

  test('a higher rate is a parameter', () => {
    expect(answersOf(new StunServer({ ratePerSecond: 1_000_000 }), 10_000, IPV4, 0)).toBe(10_000);
  });

  test('a million sources do not grow the table', () => {
    const limit = new SourceLimit(50, 32);
    for (let n = 0; n < 1_000_000; n++) limit.take(String(n), 0);
    expect(limit.sources).toBeLessThanOrEqual(65_536);
  });

  test('a clock that jumps back neither gives nor takes', () => {
    const limit = new SourceLimit(1, 2);
    expect([limit.take('a', 1_000), limit.take('a', 0), limit.take('a', 0), limit.take('a', 1_000)]).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });
});
