import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { importPrivateKey, keyPairOf } from '../seal/x25519.ts';
import { writeForward } from './client.ts';
import { relayKeysOf } from './credential.ts';
import { encodeFrame, FRAME_TYPES, type FrameType, MAX_PAYLOAD_BYTES, peerIdOf, viewOf } from './frame.ts';
import { STREAM_CORPUS } from './fuzz-corpus.ts';
import {
  type Bye,
  decodeBye,
  decodeChallenge,
  decodeHello,
  decodeReady,
  encodeBye,
  encodeChallenge,
  encodeHello,
  encodeReady,
  type Hello,
  identityProof,
  tokenProof,
} from './handshake.ts';
import { byeReasonOf } from './reasons.ts';
import { FrameSplitter } from './splitter.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
/** A long run sets more: docs/fuzzing.md. */
const FUZZ_RUNS = Number(process.env['FUZZ_RUNS'] ?? 200);
const utf8 = (text: string) => Uint8Array.from(Buffer.from(text));

describe('frames', () => {
  test.each<{ type: FrameType; peer: bigint; payload: string; flags?: number; wire: string }>([
    { type: 'forward', peer: 0x0123456789abcdefn, payload: 'hi', wire: '01050000000000020123456789abcdef6869' },
    { type: 'keepalive', peer: 0n, payload: '', flags: 1, wire: '01060001000000000000000000000000' },
    { type: 'probe', peer: 2n ** 64n - 1n, payload: 'x', wire: '0107000000000001ffffffffffffffff78' },
  ])('$type has these bytes', ({ type, peer, payload, flags, wire }) => {
    expect(hex(encodeFrame(type, peer, utf8(payload), flags))).toBe(wire);
  });

  test('a forward frame written in place has the same bytes', () => {
    const slab = new Uint8Array(40);
    const end = writeForward(slab, viewOf(slab), 3, 0x0123456789abcdefn, utf8('hi'), 0);
    expect(hex(slab.subarray(3, end))).toBe('01050001000000020123456789abcdef6869');
    const joined = writeForward(slab, viewOf(slab), 3, 0x0123456789abcdefn, utf8('this that'), 5);
    expect(hex(slab.subarray(3, joined))).toBe(`01050005000000090123456789abcdef${hex(utf8('this that'))}`);
  });

  test('a peer id is the first 8 bytes of SHA-256 of the key', () => {
    expect(peerIdOf(new Uint8Array(32))).toBe(0x66687aadf862bd77n);
  });
});

describe('handshake payloads', () => {
  const key = new Uint8Array(32).fill(0xaa);

  test.each<{ hello: Hello; wire: string }>([
    {
      hello: { mode: 'credential', publicKey: key, credential: new Uint8Array(89).fill(1) },
      wire: `01${'aa'.repeat(32)}${'01'.repeat(89)}`,
    },
    {
      hello: { mode: 'token', publicKey: key, workspace: new Uint8Array(16).fill(2) },
      wire: `02${'aa'.repeat(32)}${'02'.repeat(16)}`,
    },
    { hello: { mode: 'control' }, wire: '03' },
  ])('a hello of mode $hello.mode has these bytes and comes back', ({ hello, wire }) => {
    expect(hex(encodeHello(hello))).toBe(wire);
    expect(decodeHello(Buffer.from(wire, 'hex'))).toEqual(hello);
  });

  test('challenge, ready and bye come back from their bytes', () => {
    const challenge = { nonce: new Uint8Array(32).fill(1), relayKey: key };
    const ready = { keepaliveMs: 20_000, deadMs: 45_000, maxPayload: MAX_PAYLOAD_BYTES, expiresAt: 1_800_000_000_000 };
    const bye: Bye = { reason: 'restart', retryAfterMs: 1_500 };
    expect(hex(encodeReady(ready))).toBe('00004e200000afc80000fff0000001a3185c5000');
    expect(hex(encodeBye(bye))).toBe('04000005dc');
    expect([
      decodeChallenge(encodeChallenge(challenge)),
      decodeReady(encodeReady(ready)),
      decodeBye(encodeBye(bye)),
    ]).toEqual([challenge, ready, bye]);
  });

  test('a reason of a later version counts as normal', () => {
    expect(byeReasonOf(200)).toBe('normal');
  });

  // Made by another implementation of the same formulas (pyca/cryptography); keys of RFC 7748 section 6.1.
  test('both sides make these proofs of identity and of the shared token', () => {
    const node = keyPairOf(Buffer.from('77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a', 'hex'));
    const relay = keyPairOf(Buffer.from('5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb', 'hex'));
    const hello = encodeHello({ mode: 'token', publicKey: node.publicKey, workspace: new Uint8Array(16).fill(0x22) });
    const challenge = encodeChallenge({ nonce: new Uint8Array(32).fill(0x11), relayKey: relay.publicKey });
    const proofs = [
      identityProof(importPrivateKey(node.privateKey), relay.publicKey, hello, challenge),
      identityProof(importPrivateKey(relay.privateKey), node.publicKey, hello, challenge),
      tokenProof(relayKeysOf('shared-token'), hello, challenge),
    ];
    expect(proofs.map((proof) => proof && hex(proof))).toEqual([
      '0856d6079f502173ec5bd101903c88d5df0cf4bbd59bd57ce2718a16c1a94361',
      '0856d6079f502173ec5bd101903c88d5df0cf4bbd59bd57ce2718a16c1a94361',
      '26a860e633f68c6bcee4c5beb18973969c2871279bad95b1fcc76bc45be9055f',
    ]);
  });

  test('random payloads never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (payload) => {
        for (const decode of [decodeHello, decodeChallenge, decodeReady, decodeBye]) decode(payload);
      }),
    );
  });
});

describe('splitting', () => {
  const type = fc.constantFrom(...(Object.keys(FRAME_TYPES) as FrameType[]));
  const frame = fc
    .tuple(type, fc.bigInt(0n, 2n ** 64n - 1n), fc.uint8Array({ maxLength: 100 }))
    .map((parts) => encodeFrame(...parts));

  test('any split of a stream gives the same frames', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 50 })), (frames, cuts) => {
        const stream = Uint8Array.from(frames.flatMap((bytes) => [...bytes]));
        expect(split(new FrameSplitter(100), chunksOf(stream, cuts)).frames).toEqual(frames.map(hex));
      }),
    );
  });

  test('the largest frame passes byte by byte and whole', () => {
    const largest = encodeFrame('forward', 1n, new Uint8Array(MAX_PAYLOAD_BYTES).fill(5));
    const bytes = Array.from({ length: largest.length }, (_, at) => largest.subarray(at, at + 1));
    expect(split(new FrameSplitter(MAX_PAYLOAD_BYTES), bytes).frames).toEqual([hex(largest)]);
    expect(split(new FrameSplitter(MAX_PAYLOAD_BYTES), [largest]).frames).toEqual([hex(largest)]);
  });

  test('a frame above the limit or of another version is refused, whole or in pieces', () => {
    const large = encodeFrame('hello', 0n, new Uint8Array(101));
    const later = Uint8Array.from([2, ...large.subarray(1)]);
    for (const cuts of [[], [3], [20]]) {
      expect(split(new FrameSplitter(100), chunksOf(large, cuts))).toEqual({ frames: [], refusal: 'too-large' });
      expect(split(new FrameSplitter(100), chunksOf(later, cuts))).toEqual({ frames: [], refusal: 'bad-version' });
    }
  });

  test('random bytes never throw', () => {
    const corpus = STREAM_CORPUS.map(({ hex: text }) => Uint8Array.from(Buffer.from(text, 'hex')));
    const stream = fc.oneof(fc.uint8Array({ maxLength: 400 }), fc.constantFrom(...corpus));
    fc.assert(
      fc.property(stream, fc.array(fc.integer({ min: 1, max: 50 })), (bytes, cuts) => {
        split(new FrameSplitter(100), chunksOf(bytes, cuts));
      }),
      { numRuns: FUZZ_RUNS },
    );
  });
});

function chunksOf(stream: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (const cut of cuts) {
    chunks.push(stream.subarray(at, at + cut));
    at += cut;
  }
  return [...chunks, stream.subarray(at)];
}

function split(splitter: FrameSplitter, chunks: readonly Uint8Array[]) {
  const frames: string[] = [];
  for (const chunk of chunks) {
    // Looked at when the chunk is split, as long as frames are valid.
    const seen: Uint8Array[] = [];
    const refusal = splitter.push(chunk, (bytes, _view, start, end) => seen.push(bytes.subarray(start, end)) > 0);
    frames.push(...seen.map(hex));
    if (refusal !== undefined) return { frames, refusal };
  }
  return { frames, refusal: undefined };
}
