import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { PAGE_NAMES } from '../../web/src/pages/names.ts';

const BUILT = path.resolve('web/dist');
/** Of what is sent, gzip. */
const MOST_BYTES = { shell: 120_000, page: 80_000 };

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

const manifest: Readonly<Record<string, Chunk>> = JSON.parse(
  readFileSync(path.join(BUILT, '.vite', 'manifest.json'), 'utf8'),
);

/** What is read before a script runs: it, its styles, and all that it imports. What it reads later is not. */
function filesOf(name: string, found = new Set<string>()): Set<string> {
  const { file, imports = [], css = [] } = manifest[name] ?? { file: '' };
  if (found.has(file)) return found;
  for (const one of [file, ...css]) found.add(one);
  for (const other of imports) filesOf(other, found);
  return found;
}

function bytesOf(files: Iterable<string>): number {
  return [...files].reduce((sum, file) => sum + gzipSync(readFileSync(path.join(BUILT, file))).length, 0);
}

const entry = 'index.html';
const shell = filesOf(entry);
const pages = Object.keys(PAGE_NAMES).map((name) => [name, `src/pages/${name}/${name}.tsx`] as const);

test('the shell of the dashboard stays below its size', () => {
  expect(shell.size).toBeGreaterThan(1);
  expect(bytesOf(shell)).toBeLessThan(MOST_BYTES.shell);
});

test.each(pages)('what the page %s reads beside the shell stays below its size', (_, source) => {
  const own = filesOf(source).difference(shell);
  expect(own.size).toBeGreaterThan(0);
  expect(bytesOf(own)).toBeLessThan(MOST_BYTES.page);
});
