import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BUILT_IN_PASSWORD } from '../../core/identity/first-accounts.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { mesh } from '../kits/process/run-command.ts';

const OWN_PASSWORD = 'a password of my own 42';

/** A plane as its first start leaves it: the built-in password, no workspace. */
const startFresh = () => startHarness({ config: {} });

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const signedIn = async ({ url }: Harness, owner = home) => {
  const env = { MESH_SERVER: url };
  await mesh(['login'], { home: owner, env, stdin: `${BUILT_IN_PASSWORD}\n` });
  await mesh(['passwd'], { home: owner, env, stdin: `${BUILT_IN_PASSWORD}\n${OWN_PASSWORD}\n` });
  await mesh(['login'], { home: owner, env, stdin: `${OWN_PASSWORD}\n` });
};

describe('a command that needs a workspace and is given none', () => {
  test('uses the one there is, of the path too, and asks for --workspace where there are several', async () => {
    await using harness = await startFresh();
    await signedIn(harness);
    expect((await mesh(['invite'], { home })).stderr).toContain('Made the first workspace, default (');
    const ask = (...args: string[]) => mesh(['admin', ...args], { home });
    expect(await ask('list-peers')).toEqual({ code: 0, stdout: 'none\n', stderr: '' });
    expect(JSON.parse((await ask('get-workspace', '--json')).stdout).slug).toBe('default');
    expect((await mesh(['invite', '--public-server', harness.url], { home })).stderr).toBe('');
    expect(await ask('delete-workspace')).toMatchObject({ code: 2, stderr: '--workspace is required.\n' });

    await ask('add-workspace', '--slug', 'lab', '--namespace', 'lab', '--display-name', 'Lab', '--max-node-count', '9');
    // This session goes by the first one; another one has to choose.
    const other = path.join(home, 'other');
    await signedIn(harness, other);
    const several = 'You have several workspaces (default, lab): name one with --workspace.\n';
    for (const args of [['admin', 'list-peers'], ['admin', 'get-workspace'], ['invite'], ['why', 'a', 'b']]) {
      expect(await mesh(args, { home: other })).toEqual({ code: 2, stdout: '', stderr: several });
    }
    expect((await ask('list-peers', '--workspace', 'lab')).stdout).toBe('none\n');
  });

  test('is told of --workspace on a new control plane, and makes nothing, where it is an admin command', async () => {
    await using harness = await startFresh();
    await signedIn(harness);
    for (const operation of ['list-peers', 'get-workspace']) {
      const { code, stderr } = await mesh(['admin', operation], { home });
      expect([code, stderr]).toEqual([2, expect.stringContaining('There is no workspace yet')]);
    }
    expect((await mesh(['admin', 'list-workspaces'], { home })).stdout).toBe('none\n');
  });
});

test('a person who is a member of no workspace is told to ask an administrator', async () => {
  await using harness = await startFresh();
  await signedIn(harness);
  const password = 'a first password 42';
  const made = await mesh(['admin', 'create-user', '--username', 'ann', '--password', password], { home });
  expect(made).toMatchObject({ code: 0 });
  const ann = path.join(home, 'ann');
  const env = { MESH_SERVER: harness.url, MESH_CONFIG_DIR: ann };
  expect(await mesh(['login', '--username', 'ann'], { home, env, stdin: `${password}\n` })).toMatchObject({ code: 0 });
  await mesh(['passwd'], { home, env, stdin: `${password}\n${OWN_PASSWORD}\n` });
  const told = 'You are a member of no workspace. Ask an administrator to add you.\n';
  for (const args of [['peers'], ['invite'], ['admin', 'get-workspace']]) {
    expect(await mesh(args, { home, env })).toEqual({ code: 3, stdout: '', stderr: told });
  }
});

test('a command without a session says how to sign in, and one before the first password is changed how to change it', async () => {
  await using harness = await startFresh();
  const env = { MESH_SERVER: harness.url };
  const wanted = { code: 3, stdout: '', stderr: 'Sign in first: mesh login\n' };
  for (const args of [['invite'], ['passwd'], ['why', 'a', 'b'], ['mcp', 'config'], ['admin', 'list-peers']]) {
    expect(await mesh(args, { home, env })).toEqual(wanted);
  }
  await mesh(['login'], { home, env, stdin: `${BUILT_IN_PASSWORD}\n` });
  const { code, stderr } = await mesh(['invite'], { home, env });
  expect([code, stderr]).toEqual([3, 'Change the password first: mesh passwd\n']);
});
