import { chmodSync, chownSync, lchownSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { narrow } from './file-mode.ts';
import { openDatabase } from './sqlite/database.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'mesh-mode-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
});

function made(name: string): string {
  const file = path.join(directory, name);
  writeFileSync(file, '');
  chmodSync(file, 0o644);
  return file;
}
const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

test('a file is narrowed to its owner, also by a link of theirs', () => {
  const [file, other, link] = [made('a'), made('b'), path.join(directory, 'link')];
  symlinkSync(other, link);
  expect([narrow(file), narrow(link), modeOf(file), modeOf(other)]).toEqual([true, true, '600', '600']);
});

test.runIf(process.getuid?.() === 0)('a link of one user to the file of another changes nothing of it', () => {
  const [file, link] = [made('shadow'), path.join(directory, 'mesh.db')];
  symlinkSync(file, link);
  chownSync(directory, 4_242, 4_242);
  lchownSync(link, 4_242, 4_242);
  expect([narrow(link), modeOf(file)]).toEqual([false, '644']);
  openDatabase(link).close();
  expect(modeOf(file)).toBe('644');
});
