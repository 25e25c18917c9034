import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf } from './page-blocks.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const SOURCES = globSync('**/*.ts', { cwd: ROOT, exclude: ['**/node_modules', '**/.*', 'dist'] });

const THIS = 'test/citations.test.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;
/** `docs/policy.md#precedence`, `README.md`, `net/direct-write.ts`; addresses on the internet are none. */
const CITED = /(?<![\w/:.-])((?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.(?:md|ts))(?:#([\w-]+))?/g;

interface Citation {
  readonly source: string;
  readonly file: string;
  readonly anchor: string | undefined;
}

const citations = SOURCES.flatMap((source): Citation[] => {
  const comments = read(source).match(COMMENT) ?? [];
  return [...comments.join('\n').matchAll(CITED)].map(([, file = '', anchor]) => ({ source, file, anchor }));
});

/** From the top of the repository, or from the folder of the source or one above it. */
function foundBy({ source, file }: Citation): string | undefined {
  for (let folder = path.dirname(source); ; folder = path.dirname(folder)) {
    const candidate = path.join(folder, file);
    if (existsSync(path.join(ROOT, candidate))) return candidate;
    if (folder === '.') return undefined;
  }
}

test('every file that a comment cites is in the repository, and every anchor is a heading of it', () => {
  const broken = citations.filter((citation) => {
    const found = foundBy(citation);
    return found === undefined || (citation.anchor !== undefined && !anchorsOf(found).has(citation.anchor));
  });
  expect(broken.map(({ source, file, anchor }) => `${source}: ${file}${anchor ? `#${anchor}` : ''}`)).toEqual([]);
  expect(citations.filter(({ anchor }) => anchor).length).toBeGreaterThan(20);
});

/** Documents that a reader of the repository alone does not have, and numbers that lead nowhere by themselves. */
const ELSEWHERE = /\bDESIGN\b|\b(?:STYLE|findings)\.md|\bfacts\/|\(contract,? "|\bspec "|(?<!\[)\bdecision \d{4}\b/g;

test('no comment and no page cites a document that is not in the repository, or a decision without its file', () => {
  const pages = globSync('**/*.md', { cwd: ROOT, exclude: ['**/node_modules', '**/.*', 'dist'] });
  const texts = [
    ...SOURCES.map((file) => ({ file, text: (read(file).match(COMMENT) ?? []).join('\n') })),
    ...pages.map((file) => ({ file, text: read(file) })),
  ];
  expect(texts.flatMap(({ file, text }) => (text.match(ELSEWHERE) ?? []).map((found) => `${file}: ${found}`))).toEqual(
    [],
  );
});

test('no message cites a document that is not in the repository', () => {
  expect(SOURCES.filter((file) => file !== THIS && /\bDESIGN\b|\bfindings\.md|\bfacts\//.test(read(file)))).toEqual([]);
});
