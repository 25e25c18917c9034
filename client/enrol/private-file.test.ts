import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makePrivateDirectory, replacePrivateFile, StateNotWritten } from './private-file.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'mesh-state-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('a file that cannot be written is named with the reason, and nothing is left beside it', () => {
  const name = path.join(directory, 'held');
  mkdirSync(name);
  expect(() => replacePrivateFile(name, 'text')).toThrow(StateNotWritten);
  expect(() => replacePrivateFile(name, 'text')).toThrow(`${name} cannot be written: EISDIR`);
  expect(readdirSync(directory)).toEqual(['held']);
});

test('a directory of others too keeps its mode, and is none for secrets where they write in it', () => {
  const inside = (name: string) => path.join(directory, 'modes', name);
  const [home, temporary, own] = [inside('home'), inside('temporary'), inside('own')];
  for (const name of [home, temporary, own]) mkdirSync(name, { recursive: true });
  mkdirSync(path.join(home, 'documents'));
  chmodSync(home, 0o755);
  chmodSync(temporary, 0o1777);
  chmodSync(own, 0o755);
  makePrivateDirectory(home);
  makePrivateDirectory(own);
  expect(() => makePrivateDirectory(temporary)).toThrow(`${temporary} is of others too: name a directory of its own`);
  expect([home, temporary, own].map((name) => modeOf(name))).toEqual(['755', '777', '700']);
  rmSync(path.join(directory, 'modes'), { recursive: true });
});

test('a file that does not fit is refused, and the one before stays', () => {
  const name = path.join(directory, 'large.json');
  replacePrivateFile(name, 'one');
  // A limit on the size of files does what a disk does that gets full: it takes the beginning.
  const limited = `trap '' XFSZ; ulimit -f 8; exec "$0" --input-type=module --eval "$1" "$2"`;
  const script = `import { replacePrivateFile } from ${JSON.stringify(path.join(import.meta.dirname, 'private-file.ts'))};
replacePrivateFile(process.argv[1], 'x'.repeat(1_000_000));`;
  const { status, stderr } = spawnSync('sh', ['-c', limited, process.execPath, script, name], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, expect.stringContaining(`${name} cannot be written: EFBIG`)]);
  expect(readFileSync(name, 'utf8')).toBe('one');
  rmSync(name);
});

test('a file is replaced whole', () => {
  const name = path.join(directory, 'state.json');
  replacePrivateFile(name, 'one');
  replacePrivateFile(name, 'two');
  expect(readFileSync(name, 'utf8')).toBe('two');
});

const modeOf = (name: string) => (statSync(name).mode & 0o777).toString(8);

/** A directory of the caller that others may enter, and a link to it. */
function linked(name: string): { target: string; link: string } {
  const [target, link] = [path.join(directory, name), path.join(directory, `${name}-link`)];
  mkdirSync(target);
  chmodSync(target, 0o755);
  symlinkSync(target, link);
  return { target, link };
}

test('a directory behind a link of the caller is narrowed to its owner', () => {
  const { target, link } = linked('own');
  makePrivateDirectory(link);
  expect(modeOf(target)).toBe('700');
});
