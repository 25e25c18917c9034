import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHALLENGE_LIFE_MS, Challenges } from './challenges.ts';
import {
  decrypt,
  deriveKey,
  EPOCH_BYTES,
  encrypt,
  HEADER_BYTES,
  MAX_SEALED_BYTES,
  readHeader,
  type SealKind,
  TAG_BYTES,
} from './format.ts';
import { Opener } from './opener.ts';
import { Sealer } from './sealer.ts';
import { SharedChallenges } from './shared-challenges.ts';
import { ReplayWindow, WINDOW_WIDTH } from './window.ts';
import { agree, generateKeyPair, importPrivateKey, type KeyPair, keyPairOf } from './x25519.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const toHex = (bytes: Uint8Array | undefined) => (bytes ? Buffer.from(bytes).toString('hex') : undefined);
const utf8 = (text: string) => Uint8Array.from(Buffer.from(text));

// RFC 7748 section 6.1.
const alice = keyPairOf(hex('77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a'));
const bob = keyPairOf(hex('5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb'));
const SUBJECT = 'mesh.w_1.p_b.signal';

// Made by another implementation of the same formula (pyca/cryptography).
const GOLDEN: readonly {
  name: string;
  from: KeyPair;
  to: KeyPair;
  epoch: string;
  kind: SealKind;
  subject: string;
  plaintexts: readonly string[];
  sealed: readonly string[];
}[] = [
  {
    name: 'two signals of one process',
    from: alice,
    to: bob,
    epoch: '000102030405060708090a0b0c0d0e0f',
    kind: 'signal',
    subject: SUBJECT,
    plaintexts: ['{"kind":"PING"}', ''],
    sealed: [
      '018520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a000102030405060708090a0b0c0d0e0f0000000000000000149fc99823fb42d02d2a11654db8566e67fdf1354a62b300566f4e284a1496',
      '018520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a000102030405060708090a0b0c0d0e0f0000000000000001abff8cee555831bf950a9b2a80a51d22',
    ],
  },
  {
    name: 'a graph push the other way',
    from: bob,
    to: alice,
    epoch: 'ffffffffffffffffffffffffffffffff',
    kind: 'graph',
    subject: 'mesh.w_1.p_a.graph',
    plaintexts: ['hello'],
    sealed: [
      '01de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4fffffffffffffffffffffffffffffffff0000000000000000715a4d07bbadec20efd4c639ad810d4ce601d21d5c',
    ],
  },
];

describe('golden vectors', () => {
  test('the key pairs and the secret of RFC 7748 come out', () => {
    expect([
      toHex(alice.publicKey),
      toHex(bob.publicKey),
      toHex(agree(importPrivateKey(alice.privateKey), bob.publicKey)),
    ]).toEqual([
      '8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a',
      'de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f',
      '4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742',
    ]);
  });

  test.each(GOLDEN)('$name: sealing gives these bytes and opening gives the text back', (vector) => {
    const sealer = new Sealer(vector.from, hex(vector.epoch));
    const opener = new Opener(vector.to, () => true);
    const sealed = vector.plaintexts.map((text) =>
      sealer.seal(vector.kind, vector.to.publicKey, vector.subject, utf8(text)),
    );
    expect(sealed.map(toHex)).toEqual(vector.sealed);
    const opened = vector.sealed.map((bytes) => opener.open(vector.kind, vector.subject, hex(bytes)));
    expect(opened.map((result) => result.ok && Buffer.from(result.plaintext).toString())).toEqual(vector.plaintexts);
  });
});

describe('opening', () => {
  test('a message is opened once and a repetition is refused', () => {
    const { seal, opener } = pair();
    const sealed = seal('a');
    expect(textOf(opener, sealed)).toBe('a');
    expect(textOf(opener, sealed)).toBe('replayed');
  });

  test('messages within the window open in any order, older ones are refused', () => {
    const { seal, opener } = pair();
    const sealed = Array.from({ length: WINDOW_WIDTH + 2 }, (_, n) => seal(String(n)));
    const order = [WINDOW_WIDTH + 1, 2, 40, 40, 1, 0].map((n) => textOf(opener, sealed[n]));
    expect(order).toEqual(['65', '2', '40', 'replayed', 'replayed', 'replayed']);
  });

  test('a restarted sender uses other bytes for the same text and its epoch counts as unproven', () => {
    const { opener, seal } = pair();
    const first = seal('a');
    const opened = opener.open('signal', SUBJECT, first);
    if (opened.ok) opener.prove(opened);
    const restarted = new Sealer(alice, new Uint8Array(EPOCH_BYTES).fill(2));
    const second = restarted.seal('signal', bob.publicKey, SUBJECT, utf8('a')) ?? new Uint8Array();
    expect(toHex(second.subarray(HEADER_BYTES))).not.toEqual(toHex(first.subarray(HEADER_BYTES)));
    expect(epochOf(opener, seal('b'))).toBe('proven');
    expect(epochOf(opener, second)).toBe('unproven');
  });

  test('once a new epoch is proven, recordings of the old process are never proven again', () => {
    const { opener, seal } = pair();
    const recording = seal('old');
    const opened = opener.open('signal', SUBJECT, recording);
    if (opened.ok) opener.prove(opened);
    const restarted = new Sealer(alice, new Uint8Array(EPOCH_BYTES).fill(2));
    const fresh = opener.open(
      'signal',
      SUBJECT,
      restarted.seal('signal', bob.publicKey, SUBJECT, utf8('n')) ?? hex(''),
    );
    if (fresh.ok) opener.prove(fresh);
    expect(epochOf(opener, recording)).toBe('replayed');
    expect(epochOf(opener, seal('late'))).toBe('unproven');
    expect(epochOf(opener, restarted.seal('signal', bob.publicKey, SUBJECT, utf8('m')))).toBe('proven');
  });

  test('recordings of many old processes cannot push out the proven epoch', () => {
    const { opener, seal } = pair();
    const opened = opener.open('signal', SUBJECT, seal('live'));
    if (opened.ok) opener.prove(opened);
    const recordings = Array.from({ length: 200 }, (_, n) =>
      new Sealer(alice, new Uint8Array(EPOCH_BYTES).fill(n + 10)).seal('signal', bob.publicKey, SUBJECT, utf8('x')),
    );
    for (const recording of recordings) expect(epochOf(opener, recording)).toBe('unproven');
    expect(epochOf(opener, seal('live'))).toBe('proven');
  });

  test('recordings of 31 old processes are opened once each, however often they come and whoever is proven meanwhile', () => {
    const { opener, seal } = pair();
    const recordings = Array.from({ length: 31 }, (_, n) =>
      new Sealer(alice, new Uint8Array(EPOCH_BYTES).fill(n + 10)).seal('signal', bob.publicKey, SUBJECT, utf8('x')),
    );
    const replay = () => recordings.map((recording) => epochOf(opener, recording));
    expect(new Set(replay())).toEqual(new Set(['unproven']));
    const opened = opener.open('signal', SUBJECT, seal('live'));
    if (opened.ok) opener.prove(opened);
    for (let again = 0; again < 10; again++) expect(new Set(replay())).toEqual(new Set(['replayed']));
  });

  test('a receiver that was forgotten is sealed to again, never under a number that was used', () => {
    const sealer = new Sealer(alice, new Uint8Array(EPOCH_BYTES).fill(3));
    const numbers = (to: Uint8Array, count: number) =>
      Array.from({ length: count }, () => readHeader(sealer.seal('graph', to, SUBJECT, utf8('x')) ?? hex(''))?.seq);
    expect(numbers(bob.publicKey, 3)).toEqual([0, 1, 2]);
    sealer.forget(bob.publicKey);
    expect(numbers(bob.publicKey, 2)).toEqual([3, 4]);
    expect(numbers(generateKeyPair().publicKey, 1)).toEqual([3]);
  });

  test('another kind, subject, receiver or any changed byte is not authentic', () => {
    const { seal, opener } = pair();
    const sealed = seal('text');
    const carol = generateKeyPair();
    expect(opener.open('graph', SUBJECT, sealed)).toEqual({ ok: false, reason: 'not-authentic' });
    expect(opener.open('signal', 'mesh.w_1.p_c.signal', sealed)).toEqual({ ok: false, reason: 'not-authentic' });
    expect(new Opener(carol, () => true).open('signal', SUBJECT, sealed)).toEqual({
      ok: false,
      reason: 'not-authentic',
    });
    for (let at = 1; at < sealed.length; at++) {
      const forged = Uint8Array.from(sealed);
      forged[at] = (forged[at] ?? 0) ^ 1;
      expect(new Opener(bob, () => true).open('signal', SUBJECT, forged).ok).toBe(false);
    }
    expect(textOf(opener, sealed)).toBe('text');
  });

  test('a key that is not listened to is refused before any work', () => {
    const { seal } = pair();
    const opener = new Opener(bob, () => false);
    expect(opener.open('signal', SUBJECT, seal('a'))).toEqual({ ok: false, reason: 'stranger' });
  });

  test('a forger cannot use up the numbers of a sender', () => {
    const { seal, opener } = pair();
    const first = seal('first');
    const forged = Uint8Array.from(first);
    forged.fill(0xff, HEADER_BYTES - 4, HEADER_BYTES);
    expect(textOf(opener, forged)).toBe('not-authentic');
    expect(textOf(opener, first)).toBe('first');
  });

  test('a key of low order never agrees and is never sealed to', () => {
    const zero = new Uint8Array(32);
    expect(agree(importPrivateKey(alice.privateKey), zero)).toBeUndefined();
    expect(new Sealer(alice, new Uint8Array(EPOCH_BYTES)).seal('signal', zero, SUBJECT, utf8('a'))).toBeUndefined();
  });

  test('a message that would not fit the bus is not sealed', () => {
    const sealer = new Sealer(alice, new Uint8Array(EPOCH_BYTES));
    const largest = MAX_SEALED_BYTES - HEADER_BYTES - TAG_BYTES;
    expect(sealer.seal('graph', bob.publicKey, SUBJECT, new Uint8Array(largest))?.length).toBe(MAX_SEALED_BYTES);
    expect(sealer.seal('graph', bob.publicKey, SUBJECT, new Uint8Array(largest + 1))).toBeUndefined();
  });

  test('every message comes back from its seal, with its header', () => {
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
    const kind = fc.constantFrom<SealKind>('signal', 'graph', 'request', 'reply');
    const header = fc.record({ sender: bytes(32), epoch: bytes(EPOCH_BYTES), seq: fc.nat(Number.MAX_SAFE_INTEGER) });
    fc.assert(
      fc.property(bytes(32), header, kind, fc.string(), fc.uint8Array(), (secret, written, use, subject, plaintext) => {
        const key = deriveKey(secret, written.epoch, use, written.sender, bob.publicKey);
        const sealed = encrypt(key, written, subject, plaintext);
        const { sender, epoch, seq } = readHeader(sealed) ?? {};
        expect([toHex(sender), toHex(epoch), seq]).toEqual([toHex(written.sender), toHex(written.epoch), written.seq]);
        expect(toHex(decrypt(key, sealed, subject))).toBe(toHex(plaintext));
      }),
    );
  });

  test('random bytes and cut or glued messages never throw', () => {
    const { seal, opener } = pair();
    const valid = seal('text');
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 256 }),
      fc.nat(valid.length - 1).map((cut) => valid.subarray(0, cut)),
      fc.uint8Array({ maxLength: 64 }).map((tail) => Uint8Array.from([...valid.subarray(0, HEADER_BYTES), ...tail])),
    );
    fc.assert(fc.property(bytes, (input) => !opener.open('signal', SUBJECT, input).ok));
  });
});

describe('window', () => {
  test('it answers as a set that remembers everything within the width', () => {
    const offsets = fc.array(fc.nat(200), { maxLength: 200 });
    fc.assert(
      fc.property(offsets, (sequence) => {
        const window = new ReplayWindow();
        const seen = new Set<number>();
        let newest = -1;
        return sequence.every((seq) => {
          const expected = seq > newest - WINDOW_WIDTH && !seen.has(seq);
          if (expected) seen.add(seq);
          if (expected) newest = Math.max(newest, seq);
          return window.use(seq) === expected;
        });
      }),
    );
  });
});

describe('challenges', () => {
  const nonces = () => {
    let n = 0;
    return (bytes: number) => new Uint8Array(bytes).fill(++n);
  };

  test('an echo counts once, for its sender, while it is fresh by our own clock', () => {
    const challenges = new Challenges(nonces());
    const nonce = challenges.ask(alice.publicKey, 1_000);
    expect(challenges.answer(bob.publicKey, nonce, 1_001)).toBe(false);
    expect(challenges.answer(alice.publicKey, new Uint8Array(16), 1_001)).toBe(false);
    expect(challenges.answer(alice.publicKey, nonce, 1_001)).toBe(true);
    expect(challenges.answer(alice.publicKey, nonce, 1_001)).toBe(false);
  });

  test('a challenge ends with its life and when the clock jumps back', () => {
    const challenges = new Challenges(nonces());
    const nonce = challenges.ask(alice.publicKey, 1_000);
    expect(challenges.ask(alice.publicKey, 2_000)).toEqual(nonce);
    expect(challenges.answer(alice.publicKey, nonce, 999)).toBe(false);
    expect(challenges.answer(alice.publicKey, nonce, 1_000 + CHALLENGE_LIFE_MS)).toBe(false);
    expect(challenges.ask(alice.publicKey, 999)).not.toEqual(nonce);
  });
});

describe('challenges of several processes', () => {
  const [one, other] = [new SharedChallenges(alice.privateKey), new SharedChallenges(alice.privateKey)];

  test('an echo of what one asked counts for all that have the secret, for its sender and no other process', () => {
    const nonce = one.ask(bob.publicKey, 20_000);
    expect([one, other].map((each) => each.answer(bob.publicKey, nonce, 21_000))).toEqual([true, true]);
    expect(other.answer(alice.publicKey, nonce, 21_000)).toBe(false);
    expect(new SharedChallenges(bob.privateKey).answer(bob.publicKey, nonce, 21_000)).toBe(false);
    expect(other.answer(bob.publicKey, nonce.subarray(1), 21_000)).toBe(false);
  });

  test('it counts where clocks are some seconds apart, and not for long', () => {
    const nonce = one.ask(bob.publicKey, 29_000);
    expect([20_000, 29_000, 34_000, 39_999, 15_000].map((at) => other.answer(bob.publicKey, nonce, at))).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
    expect([9_999, 40_000].map((at) => other.answer(bob.publicKey, nonce, at))).toEqual([false, false]);
  });
});

function pair() {
  const sealer = new Sealer(alice, new Uint8Array(EPOCH_BYTES).fill(1));
  const opener = new Opener(bob, () => true);
  const seal = (text: string) => sealer.seal('signal', bob.publicKey, SUBJECT, utf8(text)) ?? new Uint8Array();
  return { opener, seal };
}

function textOf(opener: Opener, sealed: Uint8Array = new Uint8Array()) {
  const result = opener.open('signal', SUBJECT, sealed);
  return result.ok ? Buffer.from(result.plaintext).toString() : result.reason;
}

function epochOf(opener: Opener, sealed: Uint8Array = new Uint8Array()) {
  const result = opener.open('signal', SUBJECT, sealed);
  return result.ok ? result.epoch : result.reason;
}
