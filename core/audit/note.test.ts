import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openCheckpoint, readCheckpoint, signCheckpoint } from './checkpoint.ts';
import { formatVerifierKey, openNote, signNote } from './note.ts';

const ORIGIN = 'mesh.internal/log/0123/w_a';

function newKey(name = ORIGIN) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
  return { name, publicKey: new Uint8Array(spki.subarray(-32)), pem };
}

const key = newKey();
const TEXT = `${ORIGIN}\n3\n${Buffer.alloc(32, 7).toString('base64')}\n`;
const note = signNote(TEXT, key, key.pem);

/** The example of Go's note package, with its key. */
const GO_KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const GO_NOTE = [
  'If you think cryptography is the answer to your problem,',
  "then you don't know what your problem is.",
  '',
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=',
  '',
].join('\n');

test('a note that others signed opens with their key, written as they write it', () => {
  const [name = '', , encoded = ''] = GO_KEY.split('+');
  const theirs = { name, publicKey: Buffer.from(encoded, 'base64').subarray(1) };
  expect(formatVerifierKey(theirs)).toBe(GO_KEY);
  expect(openNote(GO_NOTE, [theirs])?.text).toMatch(/your problem is\.\n$/);
});

test('a checkpoint opens with the key of its log as what was signed', () => {
  const root = Uint8Array.from({ length: 32 }, (_, n) => n);
  const signed = signCheckpoint({ origin: ORIGIN, size: 20_852_163, root }, key.publicKey, key.pem);
  expect(openCheckpoint(signed, [key])).toEqual({ origin: ORIGIN, size: 20_852_163, root: Buffer.from(root), key });
  expect(readCheckpoint(signed)).toEqual({ origin: ORIGIN, size: 20_852_163, root: Buffer.from(root) });
});

test('a note with signatures of strangers opens; without one of a known key it does not', () => {
  const other = newKey('witness.example/x');
  const both = `${note}${signNote(TEXT, other, other.pem).slice(TEXT.length + 1)}`;
  expect(openNote(both, [key])).toEqual({ text: TEXT, key });
  expect(openNote(both, [other])).toEqual({ text: TEXT, key: other });
  expect(openNote(both, [newKey(), newKey('witness.example/x')])).toBeUndefined();
});

test('a note of which one known signature is wrong is refused, whatever the others are', () => {
  const other = newKey('witness.example/x');
  const forged = signNote('another text\n', other, other.pem).slice('another text\n'.length + 1);
  expect(openNote(`${note}${forged}`, [key])).toEqual({ text: TEXT, key });
  expect(openNote(`${note}${forged}`, [key, other])).toBeUndefined();
});

const signature = note.slice(TEXT.length + 1);
test.each([
  ['nothing', ''],
  ['text alone', TEXT],
  ['no blank line', `${TEXT}${signature}`],
  ['no last newline', note.slice(0, -1)],
  ['a control character', note.replace('3\n', '3\r\n')],
  ['a tab', note.replace('3\n', '3\t\n')],
  ['an unpaired surrogate', `\ud800${note}`],
  ['another text', note.replace('\n3\n', '\n4\n')],
  ['a hyphen for the dash', note.replace('—', '-')],
  ['a line that is no signature', `${note}and more\n`],
  ['base64 without padding', note.replace(/=\n$/, '\n')],
  ['a signature that is cut', note.replace(/.{8}=\n$/, '=\n')],
  ['more than 32 signatures', `${note}${signature.repeat(32)}`],
  ['a text without end', `${'x'.repeat(70_000)}\n\n${signature}`],
])('a note with %s is refused', (_what, hostile) => {
  expect(openNote(hostile, [key])).toBeUndefined();
});

test.each([
  ['a size with a leading zero', `${ORIGIN}\n03\n${'A'.repeat(43)}=\n`],
  ['a negative size', `${ORIGIN}\n-3\n${'A'.repeat(43)}=\n`],
  ['a size past what is exact', `${ORIGIN}\n9007199254740993\n${'A'.repeat(43)}=\n`],
  ['a short root', `${ORIGIN}\n3\n${'A'.repeat(40)}\n`],
  ['a root in another spelling', `${ORIGIN}\n3\n${'A'.repeat(42)}B=\n`],
  ['two lines', `${ORIGIN}\n3\n`],
  ['an empty extension', `${ORIGIN}\n3\n${'A'.repeat(43)}=\n\nx\n`],
  ['the origin of another log', `${ORIGIN}2\n3\n${'A'.repeat(43)}=\n`],
])('a checkpoint with %s is refused although it is signed', (_what, text) => {
  expect(openCheckpoint(signNote(text, key, key.pem), [key])).toBeUndefined();
});

test('whatever is sent as a note, nothing is thrown and nothing unsigned opens', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.nat(note.length - 1)), (sent) => {
      const hostile = typeof sent === 'string' ? `${sent}\n${note}` : note.slice(0, sent);
      expect(openNote(hostile, [key])).toBeUndefined();
    }),
  );
});
