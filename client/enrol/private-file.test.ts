import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { replacePrivateFile, StateNotWritten } from './private-file.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'mesh-state-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('a file that cannot be written is named with the reason, and nothing is left beside it', () => {
  const name = path.join(directory, 'held');
  mkdirSync(name);
  expect(() => replacePrivateFile(name, 'text')).toThrow(StateNotWritten);
  expect(() => replacePrivateFile(name, 'text')).toThrow(`${name} cannot be written: EISDIR`);
  expect(readdirSync(directory)).toEqual(['held']);
});

test('a file is replaced whole', () => {
  const name = path.join(directory, 'state.json');
  replacePrivateFile(name, 'one');
  replacePrivateFile(name, 'two');
  expect(readFileSync(name, 'utf8')).toBe('two');
});
