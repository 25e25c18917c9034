import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const SUMMARY = '\u001b[2m Test Files \u001b[22m 2 failed (3)\n      Tests  2 failed (9)\n';
const BANNER =
  '\u001b[31m⎯⎯⎯\u001b[39m\u001b[1m\u001b[41m Failed Tests 2 \u001b[49m\u001b[22m\u001b[31m⎯⎯⎯\u001b[39m\n';
const failure = (name: string, lines: number) =>
  `\n\u001b[41m FAIL \u001b[49m a.test.ts > ${name}\n${Array.from({ length: lines }, (_, at) => `${name} ${at}\n`).join('')}`;

function why(log: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-why-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'log');
  writeFileSync(file, log);
  return execFileSync(path.resolve('.ci/why'), [file], { encoding: 'utf8' });
}

test('of each failure the beginning of its error is told, and not what came before or the summary', () => {
  const told = why(`some output\n${BANNER}${failure('first', 200)}${failure('second', 3)}${SUMMARY}`);
  expect(told).not.toContain('some output');
  expect(told).not.toContain('Test Files');
  expect(told.match(/first \d+/g)?.at(-1)).toBe('first 23');
  expect(told).toContain('second 2');
});

test('many failures are told in 80 lines, and that there are more', () => {
  const failures = Array.from({ length: 30 }, (_, at) => failure(`f${at}`, 10)).join('');
  const lines = why(BANNER + failures + SUMMARY)
    .trimEnd()
    .split('\n');
  expect(lines).toHaveLength(81);
  expect(lines.at(-1)).toBe('… and more, which stands above.');
});

test('nothing is told where all passed, and how the output ends where tests did not run to their end', () => {
  expect(why(`fine\n${SUMMARY}`)).toBe('');
  const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`);
  expect(why(lines.join('\n')).trimEnd().split('\n')).toEqual([
    'Its tests did not run to their end. The last that it wrote:',
    ...lines.slice(60),
  ]);
});
