import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { launcher, run } from '../kits/process/run-command.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Starts a command as a user who is not the superuser, whoever runs this test, and who keeps nothing from others. */
function startAsUser(name: 'mesh' | 'meshd', env: Readonly<Record<string, string>>) {
  const programs = path.join(home, 'programs');
  mkdirSync(programs);
  writeFileSync(path.join(programs, 'id'), '#!/bin/sh\necho 1000\n', { mode: 0o755 });
  return run('sh', ['-c', 'umask 000; exec "$0" --version', launcher(name)], {
    env: { PATH: `${programs}:${process.env['PATH']}`, HOME: home, ...env },
  });
}

test.each(['mesh', 'meshd'] as const)(
  '%s keeps compiled code in the cache of its user, where nobody else can write what it then runs',
  async (name) => {
    expect((await startAsUser(name, {})).code).toBe(0);
    const kept = path.join(home, '.cache/mesh');
    expect(statSync(kept).mode & 0o777).toBe(0o700);
    expect(readdirSync(kept)).not.toEqual([]);
    expect(readdirSync(home).sort()).toEqual(['.cache', 'programs']);
  },
);

test('compiled code is kept where NODE_COMPILE_CACHE says', async () => {
  const kept = path.join(home, 'elsewhere');
  expect((await startAsUser('mesh', { NODE_COMPILE_CACHE: kept })).code).toBe(0);
  expect(readdirSync(kept)).not.toEqual([]);
  expect(readdirSync(home).sort()).toEqual(['elsewhere', 'programs']);
});

test('nothing is kept with NODE_DISABLE_COMPILE_CACHE', async () => {
  expect((await startAsUser('mesh', { NODE_DISABLE_COMPILE_CACHE: '1' })).code).toBe(0);
  expect(readdirSync(path.join(home, '.cache/mesh'))).toEqual([]);
});
