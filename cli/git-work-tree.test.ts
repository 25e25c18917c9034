import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ignoreIn, workTreeWith } from './git-work-tree.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'mesh-tree-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('a file outside of a work tree needs no entry', () => {
  expect(workTreeWith(path.join(root, '.mcp.json'))).toBeUndefined();
});

test('a file below a work tree has entries, which are added once and to what stands there', () => {
  mkdirSync(path.join(root, '.git'));
  writeFileSync(path.join(root, '.gitignore'), 'dist');
  const file = path.join(root, 'my app', '.mcp.json');
  const found = workTreeWith(file);
  expect(found).toMatchObject({ root, entries: ['/my\\ app/.mcp.json', '/my\\ app/.mcp.json.bak'] });
  if (found) ignoreIn(found);
  if (found) ignoreIn(found);
  expect(readFileSync(path.join(root, '.gitignore'), 'utf8')).toBe(
    'dist\n/my\\ app/.mcp.json\n/my\\ app/.mcp.json.bak\n',
  );
  expect(workTreeWith(file)).toBeUndefined();
});
