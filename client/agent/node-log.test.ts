import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { buildNodeLog, logFileWriter } from './node-log.ts';

test('a line holds time, level, message and fields, and lower levels are left out', () => {
  const lines: string[] = [];
  const log = buildNodeLog('info', (line) => lines.push(line));
  log.debug({}, 'hidden');
  log.info({ version: 7, reason: 'a change' }, 'the network changed');
  log.warn({ err: new Error('no such device') }, 'it failed');
  expect(lines).toEqual([
    expect.stringMatching(/^\d{4}-\S+Z info {2}the network changed version=7 reason="a change"\n$/),
    expect.stringMatching(/^\S+Z warn {2}it failed err="Error: no such device"\n$/),
  ]);
});

test('what others say stays one line, acts on no terminal and has an end', () => {
  const lines: string[] = [];
  const log = buildNodeLog('info', (line) => lines.push(line));
  const said = 'no\n2026-01-01T00:00:00.000Z info  all is well\u001b[2J\u009b31m\u202e\u2028';
  log.warn({ said, detail: '\u009b31m' }, said);
  log.warn({}, 'x'.repeat(1_000_000));
  expect(lines.map((line) => line.split('\n').length)).toEqual([2, 2]);
  expect(lines[0]?.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
  expect(lines[0]).toContain('all is well\uFFFD[2J');
  expect(lines[1]?.endsWith('x (991808 characters are left out)\n')).toBe(true);
});

test('a log file stays below 10 MiB and keeps the one before', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-log-'));
  const name = path.join(directory, 'node.log');
  const write = logFileWriter(name);
  const line = `${'x'.repeat(1_048_575)}\n`;
  for (let count = 0; count < 12; count += 1) write(line);
  expect([statSync(name).size, statSync(`${name}.1`).size]).toEqual([2 * line.length, 10 * line.length]);
  expect(readFileSync(name, 'utf8')).toBe(line + line);
  rmSync(directory, { recursive: true });
});

test('a log file that takes no line ends nothing', () => {
  const write = logFileWriter('/dev/full');
  expect(() => write('a line\n')).not.toThrow();
});
