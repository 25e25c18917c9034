import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { expect, onTestFinished, test } from 'vitest';
import { defineLogs, fileLines } from './node-logs.ts';
import { busWaitOption } from './node-options.ts';

test('the last lines of a log go on from the one before it, and none are none', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-logs-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'mesh0.log');
  writeFileSync(`${file}.1`, 'a\nb\n');
  writeFileSync(file, 'c\n');
  expect([0, 1, 2, 9].map((lines) => fileLines(file, lines).join(''))).toEqual(['', 'c', 'bc', 'abc']);
});

test('a log may be asked for without its past, and not for less', async () => {
  const logs = () => {
    const command = new Command('logs').exitOverride().configureOutput({ writeErr: () => {} });
    defineLogs(command);
    return command.action(() => {});
  };
  for (const [text, lines] of [
    ['0', 0],
    ['100000', 100_000],
  ] as const)
    expect((await logs().parseAsync(['-n', text], { from: 'user' })).opts()['lines']).toBe(lines);
  for (const text of ['-1', '100001', 'x'])
    await expect(logs().parseAsync(['-n', text], { from: 'user' })).rejects.toThrow('from 0 to 100000');
});

test('help says in which unit the wait for the bus is', () => {
  expect(new Command('up').addOption(busWaitOption()).helpInformation().replaceAll(/\s+/g, ' ')).toContain(
    '500ms, 10s, or a number of seconds (default: 2s)',
  );
});
