import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const FOLDER = path.join(import.meta.dirname, 'decisions');
const index = readFileSync(path.join(FOLDER, 'README.md'), 'utf8');
const records = globSync('[0-9]*.md', { cwd: FOLDER })
  .toSorted()
  .map((file) => ({ file, text: readFileSync(path.join(FOLDER, file), 'utf8') }));

test('the index lists every decision record once, by number and title', () => {
  const heads = records.map(({ file, text }) => {
    const [, number, title] = /^# (\d{4}): (.+)$/m.exec(text) ?? [];
    return `- [${number}](${file}) ${title}`;
  });
  expect(index.match(/^- \[\d{4}\].*$/gm)).toEqual(heads);
  expect(records.filter(({ file, text }) => !text.startsWith(`# ${file.slice(0, 4)}: `))).toEqual([]);
});

test('a decision record has one context, decision and consequences, in at most 15 lines of text', () => {
  const parts = ['Context', 'Decision', 'Consequences'].map((part) => `**${part}.** `);
  const wrong = records.filter(
    ({ text }) =>
      parts.some((part) => text.split(part).length !== 2) ||
      text.split('\n').filter((line) => line.trim() !== '').length > 15,
  );
  expect(wrong.map(({ file }) => file)).toEqual([]);
});

test('there are at most 40 decision records, and a row of defaults has at most 200 characters', () => {
  expect(records.length).toBeLessThanOrEqual(40);
  expect(index.split('\n').filter((line) => line.startsWith('|') && line.length > 200)).toEqual([]);
});
