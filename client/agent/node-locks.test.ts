import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { lockHolder } from './node-locks.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'mesh-holder-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const pidFile = path.join(directory, 'mesh.pid');

function holderOf(text: string, command: readonly string[]): Promise<number | undefined> {
  writeFileSync(pidFile, text);
  return lockHolder(pidFile, async () => ({ parent: 1, command, startedAt: '', isReplaced: false }));
}

test.each([[['node', '/opt/mesh/bin/mesh.ts', 'up']], [['/usr/local/bin/mesh', 'up']]])(
  '%j is an agent',
  async (command) => {
    expect(await holderOf('4711\n', command)).toBe(4_711);
  },
);

test.each(['', '0', '1\n', '-1', '-4711', 'unknown', '4711 12', `${process.pid}`])('%j is no agent', async (text) => {
  expect(await holderOf(text, ['mesh', 'up'])).toBeUndefined();
});

test('an id that another program has by now is no agent, nor is one of a file that is not there', async () => {
  expect(await holderOf('4711', ['sshd', '-D'])).toBeUndefined();
  expect(await lockHolder(path.join(directory, 'none'), async () => undefined)).toBeUndefined();
});
