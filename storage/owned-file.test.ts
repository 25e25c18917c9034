import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replaceOwned } from './owned-file.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'mesh-owned-'));
  writeFileSync(inside('other'), 'precious');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));
const inside = (name: string) => path.join(directory, name);

test('a file that does not fit is refused, and the one before stays', () => {
  replaceOwned(inside('file'), 'one');
  // A limit on the size of files does what a disk does that gets full: it takes the beginning.
  const limited = `trap '' XFSZ; ulimit -f 8; exec "$0" --input-type=module --eval "$1" "$2"`;
  const script = `import { replaceOwned } from ${JSON.stringify(path.join(import.meta.dirname, 'owned-file.ts'))};
replaceOwned(process.argv[1], 'x'.repeat(1_000_000));`;
  const { status, stderr } = spawnSync('sh', ['-c', limited, process.execPath, script, inside('file')], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([1, expect.stringContaining('EFBIG')]);
  expect(readFileSync(inside('file'), 'utf8')).toBe('one');
});

test('a draft that is a link is replaced, and what it leads to stays as it was', () => {
  symlinkSync(inside('other'), inside('file.new'));
  replaceOwned(inside('file'), 'text');
  expect([readFileSync(inside('file'), 'utf8'), readFileSync(inside('other'), 'utf8')]).toEqual(['text', 'precious']);
});
