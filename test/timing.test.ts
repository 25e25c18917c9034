import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const files = globSync('**/*.test.ts', { exclude: ['node_modules/**', '**/*.lab.test.ts', 'test/timing.test.ts'] });
/** How long something took, on the clock of the machine: `performance.now() - began`, or an instant that is not yet over. */
const MEASURED =
  /\b(?:Date|performance)\.now\(\)\s*-\s*[a-z]|expect\([^;]*\b(?:Date|performance)\.now\(\)[^;]*\.toBeLess\w+\(/;
/** The same from what others wrote down, and of real processes. */
const COMPARED = /(?:\.toBeLessThan\w*\(|<) ?[A-Z_]+_MS\b/;
const BRIEF = /\btimeout: [1-9]_?\d{3}\b/;
const RETRIED = /\bretry:\s*\{?\s*[\w1-9]/;

test('how long something takes on a real clock is asserted in the lab, which runs apart from the other tiers, or in the long run alone', () => {
  const timed = files.filter((file) => {
    const text = readFileSync(file, 'utf8');
    const ofProcesses = file.endsWith('.servers.test.ts') && COMPARED.test(text);
    return !text.includes('useFakeTimers') && (MEASURED.test(text) || ofProcesses);
  });
  expect(timed).toEqual([]);
});

test('a busy machine has ten seconds for whatever is waited for, as vitest.config.ts says', () => {
  const brief = files.filter((file) => {
    const text = readFileSync(file, 'utf8');
    return BRIEF.test(text) || waitsForOneSecond(text);
  });
  expect(brief).toEqual([]);
});

test('no test is tried again after it failed', () => {
  const sources = [...files, ...globSync('**/*.lab.test.ts', { exclude: ['node_modules/**'] }), 'vitest.config.ts'];
  expect(sources.filter((file) => RETRIED.test(readFileSync(file, 'utf8')))).toEqual([]);
});

test('each is found where it is planted', () => {
  expect('expect(performance.now() - began).toBeLessThan(2_000);').toMatch(MEASURED);
  expect('const took = Date.now() - began;').toMatch(MEASURED);
  expect('expect(Date.now()).toBeLessThanOrEqual(end + 2_000);').toMatch(MEASURED);
  expect('expect(sinceAnswer()).toBeLessThan(CUT_OFF_MS);').toMatch(COMPARED);
  expect('expect.toSatisfy((late: number) => late < LATE_MS)').toMatch(COMPARED);
  expect('expect.poll(names, { timeout: 5_000 })').toMatch(BRIEF);
  const waits = ['vi.waitUntil(() => is(1, 2));', 'vi.waitFor(() => is(1, 2), PATIENCE);'];
  expect(waits.map(waitsForOneSecond)).toEqual([true, false]);
  expect("test('x', { retry: 2 }, f)").toMatch(RETRIED);
});

/** Whether `vi` is told to wait, and not for how long. */
function waitsForOneSecond(text: string): boolean {
  return [...text.matchAll(/\bvi\.wait(?:For|Until)\(/g)].some(({ index, 0: { length } }) => {
    let depth = 1;
    for (let at = index + length; depth > 0 && at < text.length; at += 1) {
      const sign = text[at] ?? '';
      if ('([{'.includes(sign)) depth += 1;
      if (')]}'.includes(sign)) depth -= 1;
      if (sign === ',' && depth === 1) return false;
    }
    return true;
  });
}
