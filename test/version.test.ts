import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { VERSION } from '../bin/compose/version.ts';

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
/** An image, or the package that `npm pack` makes. */
const IMAGE = /\bmesh(?::|-(?=[\d.]+\.tgz))(\d+\.\d+\.\d+)/g;
const FILES = ['deploy/compose.yaml', 'deploy/compose.cluster.yaml', 'docs/deploy.md'];

test('images, the dashboard and the other packages are of the version that package.json says', () => {
  const named = FILES.flatMap((name) => [...read(name).matchAll(IMAGE)].map(([, version]) => [name, version]));
  expect(new Set(named.map(([name]) => name))).toEqual(new Set(FILES));
  expect(named).toEqual(named.map(([name]) => [name, VERSION]));
  const packages = ['web', 'packages/client', 'packages/policy'].map((folder) => read(`${folder}/package.json`));
  expect(packages.map((text) => JSON.parse(text).version)).toEqual(packages.map(() => VERSION));
  const chart = read('deploy/helm/mesh/Chart.yaml');
  expect([...chart.matchAll(/^(?:version|appVersion): "?([\d.]+)"?$/gm)].map(([, version]) => version)).toEqual([
    VERSION,
    VERSION,
  ]);
});

test('a version that was released is no longer the one of this tree: it has a section of its own', () => {
  const released = [...read('CHANGELOG.md').matchAll(/^## (\d[\w.-]*)$/gm)].map(([, version]) => version);
  expect(released).toContain('0.1.0');
  expect(read('CHANGELOG.md').includes('## Unreleased') && released.includes(VERSION)).toBe(false);
});

test('an entry of the changelog is one line with a link to its page, below one of five groups', () => {
  const [, ...sections] = read('CHANGELOG.md').split(/^## /m);
  const wrong = sections
    .filter((section) => !section.startsWith('0.1.0'))
    .flatMap((section) => section.split('\n').slice(1))
    .filter((line) => line !== '' && !/^### (Added|Changed|Fixed|Security|Breaking)$/.test(line))
    .filter((line) => !/^- [^\n]*\]\([\w/.#-]+\)\)\.$/.test(line) || line.length > 200);
  expect(wrong).toEqual([]);
});
