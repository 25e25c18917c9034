import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readNodeConfig } from './enrol/node-config.ts';
import { makePipe } from './if-readable.testkit.ts';
import { readRegular, textIn } from './if-readable.ts';

test('what is no regular file holds nobody up, and is named', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-read-'));
  const file = path.join(directory, 'node.json');
  makePipe(file);
  expect(textIn(file)).toBe('');
  expect(() => readNodeConfig(directory)).toThrow(`${file} is no regular file, or is too large: move it away.`);
  rmSync(file);
  symlinkSync('/dev/zero', file);
  expect(() => readRegular(file)).toThrow('is no regular file');
  expect(() => readRegular(directory)).toThrow(expect.objectContaining({ code: 'EISDIR' }));
  rmSync(file);
  const text = 'ä'.repeat(50_000);
  writeFileSync(file, text);
  expect(readRegular(file)).toBe(text);
  expect(() => readRegular(file, { maxBytes: 99_999 })).toThrow('too large');
  rmSync(directory, { recursive: true });
});
