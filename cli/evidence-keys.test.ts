import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { publicKeyPem } from '../core/audit/dsse.ts';
import { fingerprintOf, keyIn } from './evidence-keys.ts';

const RAW = new Uint8Array(32).fill(7);
const KEY = Buffer.from(RAW).toString('base64');

test('a key is taken as base64, by its fingerprint, or from a file with one of them or PEM', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-key-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const fileWith = (text: string) => {
    const file = path.join(directory, fingerprintOf(Buffer.from(text.padEnd(32).slice(0, 32))));
    writeFileSync(file, text);
    return file;
  };
  const fingerprint = fingerprintOf(KEY);
  for (const given of [KEY, `${KEY}\n`, fileWith(`${KEY}\n`), `@${fileWith(KEY)}`, fileWith(publicKeyPem(RAW))])
    expect(keyIn(given)).toEqual({ fingerprint, key: KEY });
  for (const given of [fingerprint, fingerprint.toUpperCase(), fileWith(fingerprint)])
    expect(keyIn(given)).toEqual({ fingerprint });
  expect(() => keyIn(fileWith('nothing'))).toThrow(/There is no public key in .*64 hex digits/);
});

test('a path that is mistyped is said to be no key and no file', () => {
  expect(() => keyIn('pubic-key.pem')).toThrow(/^--key: pubic-key\.pem is no key, and there is no such file: give a/);
});
