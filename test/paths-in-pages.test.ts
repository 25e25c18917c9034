import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { sourceFiles } from './kits/source-files.ts';

const files = sourceFiles();
const known = new Set(files.flatMap((file) => [file, ...foldersOf(file)]));
const tops = new Set(files.map((file) => file.split('/')[0] ?? ''));
const pages = files.filter((file) =>
  /^(ARCHITECTURE|CONTRIBUTING)\.md$|(^|\/)README\.md$|^docs\/contributing\//.test(file),
);

function foldersOf(file: string): string[] {
  const parts = file.split('/');
  return parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join('/')}/`);
}

/** Paths in backticks: those with a folder of the repository in front, or a file beside the page. `{a,b}` is both, `*` anything. */
export function pathsIn(page: string, text: string): string[] {
  const prose = text.replaceAll(/^```.*?^```/gms, '');
  return [...prose.matchAll(/`([\w.-]+(?:\/[\w.*{},-]*)+)`/g)].flatMap(([, given = '']) => {
    const beside = path.posix.join(path.posix.dirname(page), given);
    const top = given.split('/')[0] ?? '';
    if (tops.has(top)) return expanded(given);
    return known.has(`${beside.split('/').slice(0, -1).join('/')}/`) ? expanded(beside) : [];
  });
}

function expanded(given: string): string[] {
  const [, before = '', names, after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(given) ?? [];
  return names === undefined ? [given] : names.split(',').map((name) => `${before}${name}${after}`);
}

function exists(given: string): boolean {
  if (!given.includes('*')) return known.has(given) || known.has(`${given}/`);
  const pattern = new RegExp(`^${given.split('*').map(RegExp.escape).join('[^/]*')}$`);
  return files.some((file) => pattern.test(file));
}

test.each(pages)('every path that %s names is there', (page) => {
  expect(pathsIn(page, readFileSync(page, 'utf8')).filter((given) => !exists(given))).toEqual([]);
});

test('a path that is gone is found, alone and among several in braces', () => {
  const text =
    'See `core/network/register.ts`, `core/base/{text,gone}.ts` and `core/base/`, not `GET /peers` or `a/b`.';
  expect(pathsIn('ARCHITECTURE.md', text).filter((given) => !exists(given))).toEqual([
    'core/network/register.ts',
    'core/base/gone.ts',
  ]);
});

test('ARCHITECTURE.md stays within two screens', () => {
  expect(readFileSync('ARCHITECTURE.md', 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(120);
});
