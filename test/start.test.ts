import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';

/** Files and packages that are read before a file runs: what it imports, what that imports, and so on. */
function readWith(entry: string): Set<string> {
  const read = new Set([entry]);
  for (const file of read) {
    if (!file.endsWith('.ts')) continue;
    for (const target of importsOf(file)) {
      read.add(target.startsWith('.') ? path.join(path.dirname(file), target) : target);
    }
  }
  return read;
}

const known = new Map<string, readonly string[]>();

/** Types are gone before Node reads the file. */
function importsOf(file: string): readonly string[] {
  const before = known.get(file);
  if (before) return before;
  const { staticImports, staticExports } = parseSync(file, readFileSync(file, 'utf8')).module;
  const imported = staticImports.flatMap(({ moduleRequest, entries }) =>
    entries.length > 0 && entries.every(({ isType }) => isType) ? [] : [moduleRequest.value],
  );
  const passedOn = staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest, isType }) => (moduleRequest && !isType ? [moduleRequest.value] : [])),
  );
  const all = [...imported, ...passedOn];
  known.set(file, all);
  return all;
}

const isOutside = (name: string) => !name.endsWith('.ts') && !name.startsWith('node:');

test('mesh lists its commands, and refuses a wrong one, without reading what any of them needs', () => {
  const read = [...readWith('bin/mesh.ts')];
  expect(read.filter(isOutside)).toEqual(['commander']);
  expect(read.filter((name) => /^(client|core|mcp|net|tools)\//.test(name) && !name.startsWith('core/base/'))).toEqual(
    [],
  );
});

test('no command but admin reads all operations', () => {
  const files = readdirSync('cli').filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const readers = files.filter((name) => readWith(`cli/${name}`).has('tools/index.ts'));
  expect(readers).toEqual(['admin.ts']);
});
