import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { PAGES } from './page-blocks.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const EVERY_PAGE = globSync('**/*.md', { cwd: ROOT, exclude: ['**/node_modules', '**/.*', 'dist'] });

/** A page without its blocks and spans of code, in which nothing is a link. */
const proseOf = (page: string) =>
  readFileSync(path.join(ROOT, page), 'utf8')
    .replaceAll(/^(`{3,}).*?^\1$/gms, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ''));

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  return new Set(
    [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => {
      const slug = heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-');
      const before = seen.get(slug) ?? 0;
      seen.set(slug, before + 1);
      return before === 0 ? slug : `${slug}-${before}`;
    }),
  );
}

/** What a link of a page leads to; undefined where it leads out of the repository. */
function targetOf(page: string, link: string): { file: string; anchor: string | undefined } | undefined {
  if (/^[a-z]+:/.test(link)) return undefined;
  const [file = '', anchor] = link.split('#');
  return { file: file === '' ? page : path.join(path.dirname(page), decodeURI(file)), anchor };
}

function leadsNowhere(page: string, link: string): boolean {
  const target = targetOf(page, link);
  if (!target) return false;
  const { file, anchor } = target;
  if (!existsSync(path.join(ROOT, file))) return true;
  return anchor !== undefined && !(statSync(path.join(ROOT, file)).isFile() && anchorsOf(file).has(anchor));
}

const linksOf = (page: string) => [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);

test('every link of every page leads to a file that is there, and to a heading that is in it', () => {
  const broken = EVERY_PAGE.flatMap((page) =>
    linksOf(page)
      .filter((link) => leadsNowhere(page, link))
      .map((link) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
  expect(EVERY_PAGE.length).toBeGreaterThan(PAGES.length);
});

test('the README leads to every page of docs, directly or by the index of them', () => {
  const reached = new Set(
    ['README.md', 'docs/README.md'].flatMap((page) => linksOf(page).map((link) => targetOf(page, link)?.file)),
  );
  expect(PAGES.filter((page) => page !== 'README.md' && !reached.has(page))).toEqual([]);
});
