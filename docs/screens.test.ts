import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { PAGE_NAMES } from '../web/src/pages/names.ts';

const FOLDER = path.join(import.meta.dirname, 'screens');
const TOUR = 'docs/tour.webp';
const MOST_BYTES = { screens: 2_000_000, tour: 1_500_000 };
const expected = Object.keys(PAGE_NAMES).map((name) => `${name}-light.webp`);

test('each page of the dashboard has its picture, which its docs show, and together they stay small', () => {
  const kept = readdirSync(FOLDER);
  expect(kept.sort()).toEqual(expected.sort());
  const docs = readFileSync(path.join(import.meta.dirname, 'dashboard.md'), 'utf8');
  expect(expected.filter((name) => !docs.includes(`](screens/${name})`))).toEqual([]);
  const bytes = kept.reduce((sum, name) => sum + statSync(path.join(FOLDER, name)).size, 0);
  expect(bytes).toBeLessThan(MOST_BYTES.screens);
});

test('the README opens with a small moving picture that plays again and again', () => {
  const [opening = ''] = readFileSync('README.md', 'utf8').split('\n## ');
  expect(opening).toContain(`](${TOUR})`);
  const picture = readFileSync(TOUR);
  expect(picture.length).toBeLessThan(MOST_BYTES.tour);
  expect(picture.toString('latin1', 8, 16)).toBe('WEBPVP8X');
  // The chunk ANIM: its size, a color, and how often it plays, 0 for ever.
  const begin = picture.indexOf('ANIM');
  expect([picture.readUInt32LE(begin + 4), picture.readUInt16LE(begin + 12)]).toEqual([6, 0]);
});
