import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { shell as texts } from '../web/src/texts/shell.ts';

const FOLDER = path.join(import.meta.dirname, 'screens');
const MOST_BYTES = 2_000_000;
const expected = Object.keys(texts.pages).map((name) => `${name}-light.webp`);

test('each page of the dashboard has its picture, which its docs show, and together they stay small', () => {
  const kept = readdirSync(FOLDER);
  expect(kept.sort()).toEqual(expected.sort());
  const docs = readFileSync(path.join(import.meta.dirname, 'dashboard.md'), 'utf8');
  expect(expected.filter((name) => !docs.includes(`](screens/${name})`))).toEqual([]);
  const bytes = kept.reduce((sum, name) => sum + statSync(path.join(FOLDER, name)).size, 0);
  expect(bytes).toBeLessThan(MOST_BYTES);
});
