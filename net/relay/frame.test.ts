import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  HEADER_BYTES,
  halvesOf,
  MAX_PAYLOAD_BYTES,
  payloadLengthAt,
  peerHighAt,
  peerIdOf,
  peerLowAt,
  readHeader,
  setPeerAt,
  typeAt,
  versionAt,
  writeHeader,
} from './frame.ts';
import { STREAM_CORPUS } from './fuzz-corpus.testkit.ts';
import { FrameSplitter } from './splitter.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
/** A long run sets more: docs/fuzzing.md. */
const FUZZ_RUNS = Number(process.env['FUZZ_RUNS'] ?? 200);

test('a peer id is the first 8 bytes of SHA-256 of the key, and is made of its two halves', () => {
  const id = peerIdOf(new Uint8Array(32));
  const { high, low } = halvesOf(id);
  expect([id, high, low]).toEqual([0x66687aadf862bd77n, 0x66687aad, 0xf862bd77]);
});

describe('headers', () => {
  const header = fc.record({ type: fc.nat(255), flags: fc.nat(0xffff), peer: fc.bigInt(0n, 2n ** 64n - 1n) });

  test('every header comes back from its bytes, whole and by field', () => {
    fc.assert(
      fc.property(header, fc.nat(0xffffffff), fc.nat(20), (written, length, at) => {
        const view = new DataView(new ArrayBuffer(at + HEADER_BYTES));
        writeHeader(view, at, written, length);
        const { high, low } = halvesOf(written.peer);
        expect(readHeader(view, at)).toEqual(written);
        expect([versionAt(view, at), typeAt(view, at), payloadLengthAt(view, at)]).toEqual([1, written.type, length]);
        expect([peerHighAt(view, at), peerLowAt(view, at)]).toEqual([high, low]);
      }),
    );
  });

  test('a relay writes the sender over the receiver and nothing else', () => {
    fc.assert(
      fc.property(header, fc.bigInt(0n, 2n ** 64n - 1n), (written, peer) => {
        const view = new DataView(new ArrayBuffer(HEADER_BYTES));
        writeHeader(view, 0, written, 7);
        const { high, low } = halvesOf(peer);
        setPeerAt(view, 0, high, low);
        expect([readHeader(view, 0), payloadLengthAt(view, 0)]).toEqual([{ ...written, peer }, 7]);
      }),
    );
  });
});

describe('splitting', () => {
  const frame = fc
    .tuple(fc.nat(255), fc.bigInt(0n, 2n ** 64n - 1n), fc.uint8Array({ maxLength: 100 }))
    .map((parts) => frameOf(...parts));

  test('any split of a stream gives the same frames', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 50 })), (frames, cuts) => {
        const stream = Uint8Array.from(frames.flatMap((bytes) => [...bytes]));
        expect(split(new FrameSplitter(100), chunksOf(stream, cuts)).frames).toEqual(frames.map(hex));
      }),
    );
  });

  test('the largest frame passes byte by byte and whole', () => {
    const largest = frameOf(5, 1n, new Uint8Array(MAX_PAYLOAD_BYTES).fill(5));
    const bytes = Array.from({ length: largest.length }, (_, at) => largest.subarray(at, at + 1));
    expect(split(new FrameSplitter(MAX_PAYLOAD_BYTES), bytes).frames).toEqual([hex(largest)]);
    expect(split(new FrameSplitter(MAX_PAYLOAD_BYTES), [largest]).frames).toEqual([hex(largest)]);
  });

  test('a frame above the limit or of another version is refused, whole or in pieces', () => {
    const large = frameOf(1, 0n, new Uint8Array(101));
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

function frameOf(type: number, peer: bigint, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + payload.length);
  writeHeader(new DataView(bytes.buffer), 0, { type, flags: 0, peer }, payload.length);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

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
