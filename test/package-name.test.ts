import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sourceFiles } from './kits/source-files.ts';

/** The one place where the scope stands: who publishes the package sets it, and the pages follow. */
const { name } = JSON.parse(readFileSync('package.json', 'utf8')) as { name: string };
const [scope = ''] = name.slice(1).split('/');
const texts = sourceFiles()
  .filter((file) => /\.(?:md|ts|tsx|sh|yml|yaml|json)$/.test(file) && file !== 'test/package-name.test.ts')
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }));

function found(form: RegExp): string[] {
  return texts.flatMap(({ file, text }) => [...text.matchAll(form)].map(([match]) => `${file}: ${match}`));
}

test('the package has a scope, and nothing names the one of npm that belongs to others', () => {
  expect(name).toMatch(/^@[a-z0-9-]+\/mesh$/);
  expect(found(/\bnpx (?:-\S+ )?mesh\b|\b(?:npm|pnpm|yarn) (?:install|i|add) (?:-\S+ )?mesh\b/g)).toEqual([]);
});

test('pages and code name the package and its archive as package.json does', () => {
  const named = found(/(?<=['"` ])@[a-z0-9-]+\/mesh\b/g).filter((one) => !one.endsWith(name));
  const archives = found(/\.\/[\w-]*mesh-[\d*][\w.*]*\.tgz/g);
  expect(archives.length).toBeGreaterThan(1);
  expect([...named, ...archives.filter((one) => !one.includes(`./${scope}-mesh-`))]).toEqual([]);
});
