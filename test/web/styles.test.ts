import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = path.resolve('web/src');
const IMPORT = /(?:from|import) '(\.[^']+)'/g;
const CLASS = /\.([a-z][a-z-]*)/g;

const importsOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, name = '']) => path.resolve(path.dirname(file), name));

/** A file and all that it imports before it runs, styles among them. */
function filesOf(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  if (/\.tsx?$/.test(file)) for (const other of importsOf(file)) filesOf(other, found);
  return found;
}

const stylesOf = (files: Iterable<string>) => [...files].filter((file) => file.endsWith('.css'));

/** Classes that the selectors of style sheets name. */
function classesOf(sheets: readonly string[]): ReadonlySet<string> {
  const selectors = sheets.flatMap((file) => readFileSync(file, 'utf8').split(/\{[^{}]*\}/));
  return new Set(selectors.flatMap((text) => [...text.matchAll(CLASS)].map(([, name = '']) => name)));
}

/** Classes that components give, as far as they are written out. */
function usedIn(files: Iterable<string>): readonly string[] {
  const sources = [...files].filter((file) => file.endsWith('.tsx')).map((file) => readFileSync(file, 'utf8'));
  const written = sources.flatMap((text) => [...text.matchAll(/class="([^"]*)"|class=\{`([^`$]*)/g)]);
  return written.flatMap(([, plain, template]) => (plain ?? template ?? '').split(' '));
}

const shell = filesOf(path.join(SOURCE, 'main.tsx'));
const all = classesOf(globSync('**/*.css', { cwd: SOURCE }).map((file) => path.join(SOURCE, file)));
const pages = globSync('pages/*/*.tsx', { cwd: SOURCE })
  .filter((file) => path.basename(path.dirname(file)) === path.basename(file, '.tsx'))
  .map((file) => [file, path.join(SOURCE, file)] as const);

test.each(pages)('%s has the styles of all its components', (_, page) => {
  const files = filesOf(page);
  const styled = classesOf(stylesOf([...files, ...shell]));
  expect(usedIn(files).filter((name) => all.has(name) && !styled.has(name))).toEqual([]);
});
