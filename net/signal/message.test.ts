import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeSignal, encodeSignal, MAX_SIGNAL_BYTES, type SignalMessage } from './message.ts';
import { digestOfCosts } from './relay-costs.ts';

const nonce = Uint8Array.from(Buffer.from('00112233445566778899aabbccddeeff', 'hex'));
const PWD = 'VOkJxbRl1RmTxUk/WvJxBt';

const GOLDEN: readonly { message: SignalMessage; wire: string }[] = [
  { message: { kind: 'SYN', nonce }, wire: '{"kind":"SYN","nonce":"ABEiM0RVZneImaq7zN3u_w"}' },
  { message: { kind: 'ACK', nonce }, wire: '{"kind":"ACK","nonce":"ABEiM0RVZneImaq7zN3u_w"}' },
  {
    // The remainder of that tie breaker divided by three is 0.
    message: { kind: 'OFFER', ufrag: 'evtj', pwd: PWD, tieBreaker: 0x932ff9b151263b36n, firstCheck: 'both' },
    wire: `{"kind":"OFFER","ufrag":"evtj","pwd":"${PWD}","tieBreaker":"932ff9b151263b36"}`,
  },
  {
    message: { kind: 'ANSWER', ufrag: 'h6vY', pwd: PWD, tieBreaker: 1n },
    wire: `{"kind":"ANSWER","ufrag":"h6vY","pwd":"${PWD}","tieBreaker":"0000000000000001"}`,
  },
  {
    message: { kind: 'CANDIDATE', candidate: 'candidate:1 1 UDP 2130706431 192.0.2.1 51820 typ host' },
    wire: '{"kind":"CANDIDATE","candidate":"candidate:1 1 UDP 2130706431 192.0.2.1 51820 typ host"}',
  },
  { message: { kind: 'BYE', reason: 'revoked' }, wire: '{"kind":"BYE","reason":"revoked"}' },
  { message: { kind: 'PING' }, wire: '{"kind":"PING"}' },
  {
    message: { kind: 'RELAYS', costs: new Map([['eu', 12]]), ask: true },
    wire: '{"kind":"RELAYS","costs":{"eu":12},"ask":true}',
  },
  {
    message: { kind: 'RELAYS', costs: new Map(), seen: '00112233445566ff', ask: false },
    wire: '{"kind":"RELAYS","costs":{},"seen":"00112233445566ff"}',
  },
];

const decodeText = (text: string) => decodeSignal(Buffer.from(text));

describe('signal messages', () => {
  test.each(GOLDEN)('$message.kind has these bytes and comes back from them', ({ message, wire }) => {
    expect(Buffer.from(encodeSignal(message)).toString()).toBe(wire);
    expect(decodeText(wire)).toEqual({ ok: true, message });
  });

  test('a kind of a later version is told apart from nonsense', () => {
    expect(decodeText('{"kind":"REKEY","x":1}')).toEqual({ ok: false, reason: 'unknown-kind' });
    expect(decodeText('{"kind":"toString"}')).toEqual({ ok: false, reason: 'unknown-kind' });
  });

  test('fields of a later version are ignored', () => {
    expect(decodeText('{"kind":"PING","rtt":3}')).toEqual({ ok: true, message: { kind: 'PING' } });
  });

  test.each([
    ['no JSON', 'PING'],
    ['no object', '"PING"'],
    ['an array', '[]'],
    ['null', 'null'],
    ['no kind', '{}'],
    ['a number for a kind', '{"kind":1}'],
    ['no nonce', '{"kind":"SYN"}'],
    ['a short nonce', '{"kind":"SYN","nonce":"AAAA"}'],
    ['a short password', '{"kind":"OFFER","ufrag":"evtj","pwd":"x","tieBreaker":"932ff9b151263b36"}'],
    ['a line break in a candidate', '{"kind":"CANDIDATE","candidate":"a\\nb"}'],
    ['no costs of relays', '{"kind":"RELAYS"}'],
    ['a cost below nothing', '{"kind":"RELAYS","costs":{"eu":-1}}'],
    ['a relay whose name is none', '{"kind":"RELAYS","costs":{"__proto__":1}}'],
    ['nine relays', `{"kind":"RELAYS","costs":{${[...'abcdefghi'].map((name) => `"${name}":1`)}}}`],
    ['a long candidate', `{"kind":"CANDIDATE","candidate":"${'a'.repeat(513)}"}`],
    ['too many bytes', `{"kind":"PING","x":"${'a'.repeat(MAX_SIGNAL_BYTES)}"}`],
  ])('%s is malformed', (_, text) => {
    expect(decodeText(text)).toEqual({ ok: false, reason: 'malformed' });
  });

  test.each([
    ['both', '0000000000000003'],
    ['offerer', '0000000000000004'],
    ['answerer', '0000000000000005'],
  ] as const)('whose check is the first, "%s", is the remainder of the tie breaker', (firstCheck, tieBreaker) => {
    const message: SignalMessage = { kind: 'OFFER', ufrag: 'evtj', pwd: PWD, tieBreaker: 4n, firstCheck };
    expect(JSON.parse(Buffer.from(encodeSignal(message)).toString())).toEqual({
      kind: 'OFFER',
      ufrag: 'evtj',
      pwd: PWD,
      tieBreaker,
    });
    expect(decodeSignal(encodeSignal(message))).toMatchObject({ ok: true, message: { firstCheck } });
  });

  test('every message comes back from its bytes, and an OFFER with whose check is the first whatever tie breaker is drawn', () => {
    fc.assert(
      fc.property(anySignal(), (message) => {
        const decoded = decodeSignal(encodeSignal(message));
        if (message.kind !== 'OFFER') expect(decoded).toEqual({ ok: true, message });
        else {
          const tieBreaker = expect.any(BigInt);
          expect(decoded).toEqual({ ok: true, message: { ...message, tieBreaker } });
          // What arrived is told on as it is.
          expect(decoded.ok && decodeSignal(encodeSignal(decoded.message))).toEqual(decoded);
        }
      }),
    );
  });

  test('random bytes and random objects never throw', () => {
    const objects = fc.record(
      { kind: fc.constantFrom('SYN', 'ACK', 'OFFER', 'CANDIDATE', 'BYE'), nonce: fc.jsonValue(), pwd: fc.jsonValue() },
      { requiredKeys: ['kind'] },
    );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      objects.map((object) => Uint8Array.from(Buffer.from(JSON.stringify(object)))),
    );
    fc.assert(fc.property(bytes, (input) => typeof decodeSignal(input).ok === 'boolean'));
  });
});

function anySignal(): fc.Arbitrary<SignalMessage> {
  const kind = <K extends SignalMessage['kind']>(name: K) => fc.constant(name);
  const iceChars = (min: number) =>
    fc.string({ unit: fc.constantFrom('a', 'Z', '9', '+', '/'), minLength: min, maxLength: 256 });
  const printable = (max: number, min = 0) =>
    fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: min,
      maxLength: max,
    });
  const tieBreaker = fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.constantFrom(2n ** 64n - 1n, 0n));
  const nonceBytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
  const credentials = { ufrag: iceChars(4), pwd: iceChars(22), tieBreaker };
  const name = fc.constantFrom('main', 'eu', 'us-east-1', 'constructor', '0');
  const relayCosts = fc.array(fc.tuple(name, fc.nat(65_535))).map((costs) => new Map(costs));
  const firstCheck = fc.constantFrom('both' as const, 'offerer' as const, 'answerer' as const);
  const anyOf: { readonly [K in SignalMessage['kind']]: fc.Arbitrary<Extract<SignalMessage, { kind: K }>> } = {
    SYN: fc.record({ kind: kind('SYN'), nonce: nonceBytes }),
    ACK: fc.record({ kind: kind('ACK'), nonce: nonceBytes }),
    OFFER: fc.record({ kind: kind('OFFER'), ...credentials, firstCheck }),
    ANSWER: fc.record({ kind: kind('ANSWER'), ...credentials }),
    CANDIDATE: fc.record({ kind: kind('CANDIDATE'), candidate: printable(512, 1) }),
    BYE: fc.record({ kind: kind('BYE'), reason: printable(128) }),
    PING: fc.record({ kind: kind('PING') }),
    RELAYS: fc.oneof(
      fc.record({ kind: kind('RELAYS'), costs: relayCosts, ask: fc.boolean() }),
      fc.record({ kind: kind('RELAYS'), costs: relayCosts, seen: relayCosts.map(digestOfCosts), ask: fc.boolean() }),
    ),
  };
  return fc.oneof(...Object.values(anyOf));
}
