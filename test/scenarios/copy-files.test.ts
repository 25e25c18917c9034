import { rmSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { launcher, run } from '../kits/process/run-command.ts';

test('a move to another file and back says what to do with MESH_STORE_URL, and to whom it is forgotten does not give up what is new', async () => {
  const directory = freshDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const [own, other] = ['mesh.db', 'other.db'].map((name) => `sqlite:${path.join(directory, name)}`) as [
    string,
    string,
  ];
  const copy = (env: Readonly<Record<string, string>>, ...more: string[]) =>
    run(launcher('meshd'), ['copy', ...more, '--config-dir', directory], { env });
  const startWith = async (env: Readonly<Record<string, string>>) => {
    const meshd = startMeshd({ directory, env });
    const url = await meshd.ready().catch(() => undefined);
    await meshd.stop();
    return url === undefined ? meshd.stderr() : 'up';
  };
  expect(await startWith({})).toBe('up');

  const there = await copy({}, '--to', other);
  expect(there.stdout).toContain(`with the same --config-dir, and with MESH_STORE_URL=${other}.`);
  expect(there.stdout).toMatch(
    /without what is written to the other one from now on:\n.*--cancel, without MESH_STORE_URL/,
  );
  const forgotten = await startWith({});
  expect(forgotten).toContain(`set MESH_STORE_URL to that. To have this one back, as it was then and without what`);

  // Back without saying what is copied.
  for (const to of [own, other]) {
    const { code, stderr } = await copy({}, '--to', to);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`was moved to ${other} on `)]);
    expect(stderr).toContain(`where it is not set: set it to that of ${other} to copy what is there now.`);
  }
  const cancelled = await copy({ MESH_STORE_URL: other }, '--cancel');
  expect(cancelled.stdout).toMatch(/was not moved: nothing was to be done\. What is taken back is the store that MESH/);

  const back = await copy({ MESH_STORE_URL: other }, '--to', own);
  expect(back.stdout).toContain('and without MESH_STORE_URL: it is the file that is taken then.');
  expect(back.stdout).toContain('--cancel, with MESH_STORE_URL as it is now.');
  expect(await startWith({ MESH_STORE_URL: other })).toContain(`was moved to ${own} on `);
  expect(await startWith({})).toBe('up');
});
