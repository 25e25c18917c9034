import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const files = globSync('**/*.test.ts', { exclude: ['node_modules/**', '**/*.lab.test.ts', 'test/timing.test.ts'] });
/** How long something took, on the clock of the machine: `performance.now() - began`, or an instant that is not yet over. */
const MEASURED =
  /\b(?:Date|performance)\.now\(\)\s*-\s*[a-z]|expect\([^;]*\b(?:Date|performance)\.now\(\)[^;]*\.toBeLess\w+\(/;
const RETRIED = /\bretry:\s*\{?\s*[\w1-9]/;

test('how long something takes on a real clock is asserted in the lab alone, where one file runs at a time', () => {
  const timed = files.filter((file) => {
    const text = readFileSync(file, 'utf8');
    return !text.includes('useFakeTimers') && MEASURED.test(text);
  });
  expect(timed).toEqual([]);
});

test('no test is tried again after it failed', () => {
  const sources = [...files, ...globSync('**/*.lab.test.ts', { exclude: ['node_modules/**'] }), 'vitest.config.ts'];
  expect(sources.filter((file) => RETRIED.test(readFileSync(file, 'utf8')))).toEqual([]);
});

test('both are found where they are planted', () => {
  expect('expect(performance.now() - began).toBeLessThan(2_000);').toMatch(MEASURED);
  expect('const took = Date.now() - began;').toMatch(MEASURED);
  expect('expect(Date.now()).toBeLessThanOrEqual(end + 2_000);').toMatch(MEASURED);
  expect("test('x', { retry: 2 }, f)").toMatch(RETRIED);
});
