import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makePrivateDirectory } from './private-file.ts';

const NOBODY = 65_534;
const modeOf = (name: string) => (statSync(name).mode & 0o777).toString(8);

test.runIf(process.getuid?.() === 0)('a link of another user leads to no directory but their own', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-state-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [target, link] = [path.join(directory, 'foreign'), path.join(directory, 'foreign-link')];
  mkdirSync(target);
  chmodSync(target, 0o755);
  symlinkSync(target, link);
  lchownSync(link, NOBODY, NOBODY);
  for (const name of [link, path.join(link, 'state')]) {
    expect(() => makePrivateDirectory(name)).toThrow(
      `${link} is a link that user ${NOBODY} made to what is not theirs`,
    );
  }
  expect([modeOf(target), readdirSync(target)]).toEqual(['755', []]);
  chownSync(target, NOBODY, NOBODY);
  makePrivateDirectory(link);
  expect(modeOf(target)).toBe('700');
});
