import { expect, test } from 'vitest';
import { decisions } from './decision-index.ts';

const all = decisions();
const SUPERSEDED = /^superseded by (\[\d{4}\]\(\d{4}-[a-z0-9-]+\.md\)(, )?)+$/;

test('every decision has a number that its file bears, a title and a date', () => {
  expect(all.filter(({ file, number }) => !file.startsWith(`${number}-`)).map(({ file }) => file)).toEqual([]);
  expect(new Set(all.map(({ number }) => number)).size).toBe(all.length);
  expect(all.filter(({ date }) => Number.isNaN(Date.parse(date))).map(({ file }) => file)).toEqual([]);
});

test('a decision is accepted, or superseded by a later one that it links', () => {
  const files = new Set(all.map(({ file }) => file));
  const wrong = all.filter(({ number, status }) => {
    if (status === 'accepted') return false;
    const later = [...status.matchAll(/\((\d{4})(-[^)]*)\)/g)];
    return !SUPERSEDED.test(status) || later.some(([, by = '', rest]) => by <= number || !files.has(by + rest));
  });
  expect(wrong.map(({ file, status }) => `${file}: ${status}`)).toEqual([]);
});

test('a decision says what it is about and what was decided, once', () => {
  const count = (text: string, part: string) => text.split(`**${part}.**`).length - 1;
  const wrong = all.filter(({ text }) => count(text, 'Context') !== 1 || count(text, 'Decision') !== 1);
  expect(wrong.map(({ file }) => file)).toEqual([]);
});
