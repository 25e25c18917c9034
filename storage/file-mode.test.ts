import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { narrow } from './file-mode.ts';

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
