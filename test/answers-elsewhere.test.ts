import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { operations } from '../tools/index.ts';

const FILES = ['elsewhere', 'network-paths'].map((name) => new URL(`../llm/grammar/${name}.ts`, import.meta.url));
/** Names of one form with tools: a field of theirs. */
const FIELDS = ['dry_run'];

it('every tool that the grammar names for what it does not plan is there', () => {
  const named = FILES.flatMap((file) => readFileSync(file, 'utf8').match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []);
  const known = new Set([...operations.map(({ name }) => name), ...FIELDS]);
  expect(named.length).toBeGreaterThan(10);
  expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
});
