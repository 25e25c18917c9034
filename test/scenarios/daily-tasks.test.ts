import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_PASSWORD, type Harness, startHarness } from '../kits/http/harness.ts';
import { joinTokenFor, type Place, register } from '../kits/http/joining.ts';
import { mesh } from '../kits/process/run-command.ts';

let harness: Harness;
let place: Place;
const home = mkdtempSync(path.join(tmpdir(), 'mesh-daily-'));
const POLICY = `apiVersion: mesh.internal/v1alpha1
kind: MeshPolicy
metadata: { name: web-to-db }
spec:
  action: ALLOW
  peerSelector: { matchLabels: { role: db } }
  ingress: [{ from: [{ peerSelector: { matchLabels: { role: web } } }], ports: [{ protocol: TCP, port: 5432 }] }]
`;

beforeAll(async () => {
  harness = await startHarness();
  place = await harness.workspace('default');
  for (const [name, role] of [
    ['web-1', 'web'],
    ['db-1', 'db'],
    ['laptop-ana', 'laptop'],
  ] as const) {
    await register(harness, await joinTokenFor(harness, place, { labels: { role } }), name);
  }
  const env = { MESH_PASSWORD: ADMIN_PASSWORD };
  await mesh(['login', '--server', harness.url, '--workspace', 'default'], { home, env });
  const file = path.join(home, 'policy.yaml');
  writeFileSync(file, POLICY);
  await mesh(['apply', '-f', file], { home });
});
afterAll(async () => {
  await harness.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Runs a line whose command, word and options stand in what --help shows on the way to it. */
async function tried(...line: string[]) {
  const [verb = '', word = ''] = line;
  const { stdout: all } = await mesh(['--help'], { home });
  expect(all).toMatch(new RegExp(`^ {2}${verb} `, 'm'));
  let { stdout: help } = await mesh([verb, '--help'], { home });
  if (new RegExp(`^ {2}${word} `, 'm').test(help)) help += (await mesh([verb, word, '--help'], { home })).stdout;
  for (const option of line.filter((each) => each.startsWith('--'))) expect(help).toContain(`${option} `);
  return mesh(line, { home });
}

/** Result of a try; each task has at most two. */
const done = async (...line: string[]) => {
  const { code, stdout, stderr } = await tried(...line);
  expect([line, code, code === 0 ? '' : stderr]).toEqual([line, 0, '']);
  return `${stdout}${stderr}`;
};
/** The second try is the command that the first one names. */
const asTold = async (said: string) => {
  const [, command = ''] = /^Waits for approval: mesh (.*)$/m.exec(said) ?? [];
  return done(...command.split(' '));
};
const reachers = async () => JSON.parse(await done('access', 'db-1', '--json')).items;

test('invite a laptop of a colleague', async () => {
  expect(await done('invite', '--labels', 'role=laptop', '--link')).toMatch(/mesh-join-|mesh:\/\//);
});

test('change a setting, and see and let in who awaits approval', async () => {
  expect(await done('settings', 'set', 'requirePeerApproval=true')).toMatch(/^requirePeerApproval +yes$/m);
  await register(harness, await joinTokenFor(harness, place), 'laptop-bo');
  const { code, stdout } = await tried('approve');
  expect([code, stdout]).toEqual([2, expect.stringContaining('lets device laptop-bo into network default')]);
  expect(await done('approve', 'laptop-bo')).toContain('laptop-bo is ready as ');
});

test('a setting is set by the word that shows it, and a name may be that word', async () => {
  expect(await done('settings', 'set', 'requirePeerApproval=no')).toMatch(/^requirePeerApproval +no$/m);
  expect(await done('settings', 'set', 'requirePeerApproval=yes', 'displayName=yes')).toMatch(/^displayName +yes$/m);
  expect(await done('settings', 'show')).toMatch(/^requirePeerApproval +yes$/m);
});

test('rename a peer', async () => {
  expect(await done('rename', 'laptop-bo', 'laptop-bea')).toBe('laptop-bo is now laptop-bea.\n');
});

test('find out who can reach db-1, and why another cannot', async () => {
  expect(await done('access', 'db-1')).toMatch(/^(?:web-1|role=web).* +db-1 +TCP 5432$/m);
  expect((await tried('why', 'laptop-ana', 'db-1')).stdout).toContain('No policy allows laptop-ana → db-1.');
});

test('open a port for two hours, and take that back', async () => {
  const before = await reachers();
  const opened = await done('plan', 'let laptop-ana reach db-1 on port 5432 for two hours', '--apply');
  expect(await asTold(opened)).toMatch(
    /is executed: Allow laptop-ana to db-1 on tcp\/5432 until .*: opens TCP 5432 from laptop-ana to db-1/,
  );
  expect(await reachers()).not.toEqual(before);
  const shown = await done('undo', '--yes');
  expect(shown).toContain('closes TCP 5432 from laptop-ana to db-1');
  expect(await asTold(shown)).toContain('is executed: Opens nothing; closes TCP 5432');
  expect(await reachers()).toEqual(before);
});

test('see what changed since yesterday and by whom, and undo one of it', async () => {
  const said = await done('log', '--since', '1d');
  expect(said).toMatch(/ user:admin +renamed device laptop-bo to laptop-bea +\d+/);
  expect(said).toContain('mesh undo REVISION');
  const { items } = JSON.parse(await done('log', '--peer', 'laptop-bea', '--by', 'admin', '--json'));
  expect(items.map(({ what }: { what: string }) => what)).toEqual([
    'renamed device laptop-bo to laptop-bea',
    expect.stringContaining('laptop-bo'),
  ]);
  const all = JSON.parse(await done('log', '--limit', '99', '--json')).items as { what: string; revision: number }[];
  expect(all.filter(({ what }) => /^plan: |^apply: |executing: /.test(what))).toEqual([]);
  expect(all.map(({ what }) => what)).toContainEqual(
    expect.stringMatching(/^asked for: Allow laptop-ana to db-1 on tcp\/5432 until .*: opens TCP 5432/),
  );
  const revision = all.find(({ what }) => what.includes('web-to-db'))?.revision;
  const undone = await done('undo', String(revision), '--yes');
  expect(await asTold(undone)).toContain('is executed: Opens ');
  expect(await done('policies')).toBe('none\n');
});

test('undo asks first, and changes nothing where nobody can answer', async () => {
  const { code, stdout, stderr } = await tried('undo');
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('create MeshPolicy web-to-db');
  expect(stderr).toMatch(/Give --yes to go on\.\n$/);
});

test('add a user, who signs in with the password that is shown; reset and disable it', async () => {
  const added = await done('users', 'add', 'ada', '--member', 'operator');
  const [, password = ''] = /^Initial password: (\S+)$/m.exec(added) ?? [];
  expect((await harness.api('POST', '/api/v1/users/login', { body: { username: 'ada', password } })).status).toBe(200);
  expect(await done('users')).toMatch(/^ada +user /m);
  expect(await done('users', 'reset', 'ada')).toMatch(/^Initial password: \S+$/m);
  expect((await harness.api('POST', '/api/v1/users/login', { body: { username: 'ada', password } })).status).toBe(401);
  expect((await tried('users', 'disable', 'ada')).code).toBe(2);
  expect(await done('users', 'disable', 'ada', '--yes')).toContain('ada is disabled.');
  expect(await done('users', 'enable', 'ada')).toContain('ada is enabled.');
  expect(await done('log', '--installation')).toContain('created account ada');
});

test('download the evidence of an assessment; an assessment that fails ends with 1', async () => {
  await done('evidence', 'export', 'soc2', '--output', home);
  expect(readdirSync(home).filter((name) => name.endsWith('.zip'))).toHaveLength(1);
  const assessed = await tried('compliance', 'assess', 'soc2');
  expect([assessed.code, assessed.stdout]).toEqual([1, expect.stringContaining('FAIL')]);
});

test('a setting that there is not is answered with those there are', async () => {
  const { code, stderr } = await tried('settings', 'set', 'timezone=UTC');
  expect([code, stderr]).toEqual([2, expect.stringContaining('timeZone')]);
});
