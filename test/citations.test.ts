import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf } from './kits/process/page-blocks.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const THIS = 'test/citations.test.ts';
const IGNORED = ['**/node_modules', '**/.*', 'dist', THIS];

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const commentsOf = (text: string) => (text.match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm) ?? []).join('\n');

const sources = globSync('**/*.ts', { cwd: ROOT, exclude: IGNORED }).map((file) => ({ file, text: read(file) }));
const comments = sources.map(({ file, text }) => ({ file, text: commentsOf(text) }));
const pages = globSync('**/*.md', { cwd: ROOT, exclude: IGNORED }).map((file) => ({ file, text: read(file) }));

/** `docs/policy.md#precedence`, `README.md`, `net/direct-write.ts`; addresses on the internet are none. */
const FILE = /(?<![\w/:.-])((?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.(?:md|ts))(?:#([\w-]+))?/g;
const PAGE = /(?<![\w/])(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g;

/** The citations in texts of files or headings that are not there. */
function broken(texts: readonly { readonly file: string; readonly text: string }[], cited: RegExp): string[] {
  return texts.flatMap(({ file, text }) =>
    [...text.matchAll(cited)].flatMap(([citation, target = '', anchor]) => {
      const found = foundFrom(file, target);
      const isThere = found !== undefined && (anchor === undefined || anchorsOf(found).has(anchor));
      return isThere ? [] : [`${file}: ${citation}`];
    }),
  );
}

/** A file from the top of the repository, or from the folder of a source or one above it. */
function foundFrom(source: string, file: string): string | undefined {
  for (let folder = path.dirname(source); ; folder = path.dirname(folder)) {
    const candidate = path.join(folder, file);
    if (existsSync(path.join(ROOT, candidate))) return candidate;
    if (folder === '.') return undefined;
  }
}

test('every file that a comment cites is in the repository, and every anchor is a heading of it', () => {
  expect(broken(comments, FILE)).toEqual([]);
  expect(comments.filter(({ text }) => /\.md#/.test(text)).length).toBeGreaterThan(20);
});

test('every page of docs that a source names, in a message too, is in the repository with its heading', () => {
  expect(broken(sources, PAGE)).toEqual([]);
});

/** Documents that a reader of the repository alone does not have, and numbers that lead nowhere by themselves. */
const ELSEWHERE =
  /\bDESIGN\b|\b(?:STYLE|findings)\.md|(?<![./\w])facts\/|\(contract,? "|\bspec "[A-Z]|(?<!\[)\bdecision \d{4}\b/g;

test('no comment, page or message cites a document that is not in the repository, or a decision without its file', () => {
  const found = [...sources, ...pages].flatMap(({ file, text }) =>
    (text.match(ELSEWHERE) ?? []).map((words) => `${file}: ${words}`),
  );
  expect(found).toEqual([]);
});
