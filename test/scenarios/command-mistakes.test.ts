import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ADMIN_PASSWORD, type Harness, startHarness } from '../kits/http/harness.ts';
import { joinTokenFor, type Place, register } from '../kits/http/joining.ts';
import { mesh } from '../kits/process/run-command.ts';

let harness: Harness;
let home: string;
beforeEach(async () => {
  harness = await startHarness();
  home = mkdtempSync(path.join(tmpdir(), 'mesh-mistakes-'));
  await run('login', '--server', harness.url);
});
afterEach(async () => {
  await harness.stop();
  rmSync(home, { recursive: true, force: true });
});

const run = (...line: string[]) =>
  mesh(line, { home, env: { COLUMNS: '80', ...(line[0] === 'login' && { MESH_PASSWORD: ADMIN_PASSWORD }) } });
const done = async (...line: string[]) => {
  const ran = await run(...line);
  expect([line, ran.code, ran.code === 0 ? '' : ran.stderr]).toEqual([line, 0, '']);
  return ran.stdout;
};
const refused = async (...line: string[]) => {
  const { code, stderr } = await run(...line);
  return [code, stderr.trimEnd()];
};

/** The first workspace, with peers in it. */
async function withPeers(...names: string[]): Promise<Place> {
  const place = await harness.workspace('default');
  for (const name of names) await register(harness, await joinTokenFor(harness, place), name);
  return place;
}

test('after the first invite of a new installation, mesh log and mesh undo are of the workspace that it made', async () => {
  const [code, said] = await refused('log');
  expect([code, said]).toEqual([2, expect.stringContaining('There is no workspace yet')]);
  expect(await done('log', '--installation')).toContain('login');
  await done('invite');
  const log = await done('log');
  expect(log).toContain('made join token invitation');
  expect(log).not.toContain('login');
  // Stored: another workspace does not make it ambiguous.
  await harness.workspace('second');
  expect(await done('log')).toContain('made join token invitation');
  expect((await refused('undo'))[1]).not.toContain('name one');
});

test('where several workspaces are there and none is chosen, mesh log and mesh undo ask for one as mesh peers does', async () => {
  await harness.workspace('one');
  await harness.workspace('two');
  const asked = [2, 'You have several workspaces (one, two): name one with --workspace.'];
  for (const line of [['peers'], ['log'], ['undo'], ['admin', 'list-audit']]) {
    expect([line, ...(await refused(...line))]).toEqual([line, ...asked]);
  }
  expect(await done('admin', 'list-audit', '--installation')).toContain('login');
  expect(await done('log', '--workspace', 'one')).not.toContain('login');
});

test('who changed a setting, and from what to what, stands in mesh log', async () => {
  await withPeers();
  await done('settings', 'set', 'requirePeerApproval=true');
  // A long line goes on below, beside the revision that there is none of.
  expect((await done('log')).replaceAll(/\s+/g, ' ').replaceAll(' - ', ' ')).toMatch(
    /user:admin changed workspace default: requirePeerApproval: off → on/,
  );
});

test('mesh undo of what changed nothing that it takes back says so once and fails, and mesh log offers no undo for it', async () => {
  await withPeers('bob');
  await done('rename', 'bob', 'rob');
  const log = await done('log');
  expect(log).not.toContain('mesh undo');
  const { items } = JSON.parse(await done('log', '--peer', 'rob', '--json'));
  const { code, stdout } = await run('undo', String(items[0].revision), '--yes');
  const why = 'changed no policy, no network, and no labels or network of a peer.';
  expect([code, stdout]).toEqual([
    1,
    `Nothing to undo: revision ${items[0].revision} (renamed device bob to rob) ${why}\n`,
  ]);
});

test('mesh log of a peer or a person that is not there fails with the nearest name', async () => {
  await withPeers('web-1');
  expect(await refused('log', '--peer', 'web1')).toEqual([4, expect.stringContaining('Did you mean "web-1"?')]);
  expect(await refused('log', '--by', 'admn')).toEqual([4, 'Nobody here is called "admn". Did you mean "admin"?']);
  expect((await refused('log', '--by', 'nosuch'))[0]).toBe(4);
  await done('users', 'add', 'ada', '--member', 'viewer');
  expect(await done('log', '--by', 'ada')).toBe('none\n');
});

test('an account is not added where its membership cannot be', async () => {
  await withPeers();
  const [code, said] = await refused('users', 'add', 'eve', '--member', 'boss');
  expect([code, said]).toEqual([2, expect.stringContaining("'--member <role>'")]);
  expect((await refused('users', 'add', 'eve', '--member', 'viewer', '--workspace', 'nowhere'))[0]).not.toBe(0);
  await harness.workspace('second');
  expect((await refused('users', 'add', 'eve', '--member', 'viewer'))[0]).toBe(2);
  expect(await done('users')).not.toContain('eve');
});

test('what takes a peer away names no other', async () => {
  await withPeers('db-1');
  for (const line of [
    ['admin', 'delete-peer', 'db-2'],
    ['admin', 'revoke-peer', 'db-2'],
    ['reject', 'db-2'],
  ]) {
    const [code, said] = await refused(...line);
    expect([line, code, said]).toEqual([line, 4, expect.not.stringContaining('db-1')]);
  }
});

test('an option that an operation cannot be without is named before it is called', async () => {
  expect(await refused('admin', 'list-changes')).toEqual([2, '--from is required.']);
  expect(await refused('admin', 'create-user')).toEqual([2, expect.stringContaining('--username and --password')]);
});

test('a name with a blank in it is one name', async () => {
  await withPeers('ada');
  expect(await refused('approve', 'ada laptop')).toEqual([4, expect.stringContaining('"ada laptop"')]);
});

test('a peer that is renamed to the name it has keeps it, and is told so', async () => {
  await withPeers('bob');
  expect(await done('rename', 'bob', 'bob')).toBe('bob has that name already.\n');
});

test('what was carried out without a person says so in mesh log', async () => {
  await withPeers('web-1', 'db-1');
  await done('settings', 'set', 'autoApprove.maxRisk=high', 'autoApprove.from=["person"]');
  await done('deny', 'web-1', 'db-1', '--apply');
  const log = (await done('log')).replaceAll(/\s+/g, ' ');
  expect(log).toContain('; carried out without a person');
  expect(log).not.toContain('approved by');
});
