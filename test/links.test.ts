import { existsSync, globSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf, PAGES, proseOf } from './kits/process/page-blocks.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const EVERY_PAGE = globSync('**/*.md', { cwd: ROOT, exclude: ['**/node_modules', '**/.*', 'dist'] });

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
