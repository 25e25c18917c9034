import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { launcher, run } from '../kits/process/run-command.ts';

const meshd = (directory: string, args: readonly string[], env: Record<string, string> = {}) =>
  run(launcher('meshd'), [...args, '--config-dir', directory], { env: { HOME: directory, ...env } });

test('a backup that has no place, or would take the reserve of the store, is refused in a sentence', async () => {
  const directory = freshDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const plane = startMeshd({ directory });
  await plane.ready();
  await plane.stop();
  const none = path.join(directory, 'none');
  expect(await meshd(directory, ['backup', path.join(none, 'x.db')])).toMatchObject({
    code: 1,
    stderr: `meshd: ${none} is not there: make it, or name another place.\n`,
  });
  // More than any disk has.
  const reserve = { MESH_STORE_RESERVE: '1000000' };
  const beside = await meshd(directory, ['backup', path.join(directory, 'x.db')], reserve);
  expect([beside.code, beside.stderr]).toEqual([1, expect.stringContaining('less than the reserve of 1000000 MB')]);
});

test('a file of the directory that cannot be opened is named with what to do', async () => {
  const directory = freshDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true }));
  mkdirSync(path.join(directory, 'lock'));
  const refused = await meshd(directory, ['--standalone']);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining(`${directory}/lock is a directory: remove it`),
  ]);
});

test.each(['backup', 'restore', 'compact', 'doctor'])('the help of meshd %s names the directory', async (command) => {
  const { stdout } = await run(launcher('meshd'), [command, '--help']);
  expect(stdout).toContain('--config-dir <dir>');
});
