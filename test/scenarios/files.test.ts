import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { joinTokenFor, type Place, register } from '../kits/http/joining.ts';
import { freshKey, proofOf } from '../kits/plane/devices.ts';
import { mesh } from '../kits/process/run-command.ts';

const harness = await startHarness();
afterAll(() => harness[Symbol.asyncDispose]());
let home: string;
let workspaces = 0;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const PEERS = [
  { name: 'web-1', labels: { role: 'web' }, key: freshKey() },
  { name: 'db-1', labels: { role: 'db' }, key: freshKey() },
  { name: 'ops-1', labels: {}, key: freshKey() },
];
const WEB = { peerSelector: { matchLabels: { role: 'web' } } };
const OPEN = { action: 'ALLOW', peerSelector: { peers: ['db-1'] }, ingress: [{ from: [WEB] }] };
const SSH = `apiVersion: mesh.internal/v1alpha1
kind: MeshPolicy
metadata: { name: ops-ssh }
spec:
  action: ALLOW
  peerSelector: {}
  ingress:
    - from: [{ peerSelector: { peers: [ops-1] } }]
      ports: [{ protocol: TCP, port: 22 }]
`;

async function joinAll(place: Place): Promise<void> {
  const { body } = await harness.api('GET', '/api/v1/discovery');
  for (const { name, labels, key } of PEERS) {
    const token = await joinTokenFor(harness, place, { labels });
    const proof = proofOf(key, token, Buffer.from(body.controlKey, 'base64'));
    const { status } = await register(harness, token, name, { publicKey: key.publicKey, proof });
    expect([name, status]).toEqual([name, 201]);
  }
}

/** A workspace, and the commands of somebody who is signed in to it. */
async function openWorkspace() {
  const place = await harness.workspace(`files-${workspaces++}`);
  const env = { MESH_SERVER: harness.url, MESH_TOKEN: place.token, MESH_WORKSPACE: place.workspace };
  const post = async (route: string, body: object) => {
    const answer = await harness.api('POST', `/api/v1${route}`, { ...place, body });
    expect([route, answer.status]).toEqual([route, 201]);
    return answer;
  };
  return {
    place,
    post,
    run: (...args: string[]) => mesh(args, { home, env }),
    matrix: async () => (await harness.api('GET', '/api/v1/connectivity/matrix', place)).body.groups,
  };
}

test('a repository owns the policies: it is exported, changed, compared, previewed and applied', async () => {
  const { place, post, run } = await openWorkspace();
  await joinAll(place);
  await post('/policies', { name: 'Web-to-DB', spec: OPEN });
  const directory = path.join(home, 'network');
  const exported = await run('export', directory);
  expect([exported.code, exported.stderr]).toEqual([0, '']);
  expect(exported.stdout).toMatch(/: 5 written, 0 removed, 0 unchanged; the network at .*Z, revision \d+\n$/);
  const file = path.join(directory, 'policies/web-to-db.yaml');
  expect(readFileSync(file, 'utf8')).toContain('name: Web-to-DB\nspec:\n  action: ALLOW\n');

  rmSync(file);
  writeFileSync(path.join(directory, 'policies/ssh.yaml'), SSH);
  const different = await run('diff', directory);
  expect([different.code, different.stderr]).toEqual([1, '']);
  for (const line of [
    '--- a/policies/web-to-db.yaml',
    '+++ /dev/null',
    '+++ b/policies/ssh.yaml',
    '+  name: ops-ssh',
  ]) {
    expect(different.stdout.split('\n')).toContain(line);
  }
  expect(different.stdout).toMatch(/^opened: ops-1 -> db-1: TCP 22$/m);
  expect(different.stdout).toMatch(/^closed: web-1 -> db-1, ops-1: everything$/m);
  const dry = await run('apply', '-f', directory, '--prune', '--dry-run');
  expect([dry.code, dry.stdout]).toEqual([1, expect.stringMatching(/Web-to-DB +deleted[\s\S]*^ {2}Closes/m)]);
  const applied = await run('apply', '-f', directory, '--prune');
  expect(applied).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/ops-ssh +created[\s\S]*Web-to-DB +deleted/),
    stderr: '',
  });
  expect(await run('diff', directory)).toEqual({ code: 0, stdout: 'No difference.\n', stderr: '' });
});

test('each fault of a directory names its file, also of a device that is gone or has another name, and names both of two', async () => {
  const { place, run } = await openWorkspace();
  await joinAll(place);
  const directory = path.join(home, 'network');
  await run('export', directory);
  expect((await run('admin', 'delete-peer', 'ops-1')).stderr).toBe('');
  expect((await run('admin', 'update-peer', 'web-1', '--name', 'www-1')).stderr).toBe('');
  const refused = await run('apply', '-f', directory, '--prune');
  expect(refused.code).toBe(2);
  for (const name of ['ops-1', 'web-1']) {
    expect(refused.stderr).toContain(
      `MeshPeer ${name}, peers/${name}.yaml /metadata/name: There is no peer "${name}".`,
    );
    rmSync(path.join(directory, 'peers', `${name}.yaml`));
  }
  const ssh = SSH.replaceAll('ops-1', 'db-1');
  for (const name of ['a', 'b']) writeFileSync(path.join(directory, 'policies', `${name}.yaml`), ssh);
  const twice = await run('apply', '-f', directory);
  for (const name of ['a', 'b']) expect(twice.stderr).toContain(`policies/${name}.yaml /metadata/name`);
});

test('an export as it was, and what changed since: resources, and the connections that opened and closed', async () => {
  const { place, post, run } = await openWorkspace();
  await joinAll(place);
  await post('/policies', { name: 'web-to-db', spec: OPEN });
  const { body: snapshot } = await post(`/workspaces/${place.workspace}/snapshots`, {});
  await harness.api('DELETE', '/api/v1/policies/web-to-db', place);
  await post('/policies', { name: 'shut', spec: { action: 'DENY', peerSelector: {}, ingress: [{}] } });
  const since = await run('diff', snapshot.id, '-o', 'json');
  expect([since.code, since.stderr]).toEqual([1, '']);
  const { resources, connections } = JSON.parse(since.stdout);
  expect(
    resources.map(({ name, before, after }: Record<string, string>) => [name, before !== '', after !== '']),
  ).toEqual(
    expect.arrayContaining([
      ['web-to-db', true, false],
      ['shut', false, true],
    ]),
  );
  expect(new Set(connections.map(({ change }: { change: string }) => change))).toEqual(new Set(['closed']));
  const today = await run('diff', 'today', '-o', 'json');
  expect([today.code, JSON.parse(today.stdout).notes]).toEqual([
    1,
    [expect.stringContaining('The history of this workspace begins on')],
  ]);
  const past = path.join(home, 'past');
  expect(await run('export', past, '--at', snapshot.id)).toMatchObject({ code: 0, stderr: '' });
  const there = ['web-to-db', 'shut'].map((name) => existsSync(path.join(past, `policies/${name}.yaml`)));
  expect(there).toEqual([true, false]);

  const none = await run('diff', path.join(home, 'nowhere'));
  expect([none.code, none.stdout]).toEqual([2, '']);
  writeFileSync(path.join(past, 'policies/wrong.yaml'), SSH.replace('port: 22', 'port: 99999'));
  const wrong = await run('diff', past);
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('policies/wrong.yaml /spec/ingress/0/ports/0/port'),
  ]);
});

test('an import waits for the devices that policies list, then gives the same reachability, and writes over nothing', async () => {
  const [from, to] = [await openWorkspace(), await openWorkspace()];
  await joinAll(from.place);
  await from.post('/policies', { name: 'web-to-db', spec: OPEN });
  const directory = path.join(home, 'network');
  await from.run('export', directory);

  const early = await to.run('import', directory);
  expect([early.code, early.stdout]).toEqual([5, '']);
  expect(early.stderr).toContain('web-to-db lists peers that have not joined: db-1.');
  expect(early.stderr).toContain(
    'mesh admin generate-join-token --name import --labels role=db --usage-limit 1  # db-1',
  );
  await joinAll(to.place);
  const imported = await to.run('import', directory, '--json');
  expect([imported.code, imported.stderr]).toEqual([0, '']);
  expect(JSON.parse(imported.stdout)).toMatchObject({ must_join: [], moved: [] });
  const [own, others] = [await to.matrix(), await from.matrix()];
  expect(own).toHaveLength(others.length);
  expect(own).toEqual(expect.arrayContaining(others));

  await to.post('/policies', { name: 'own', spec: OPEN });
  const full = await to.run('import', directory);
  expect([full.code, full.stderr]).toEqual([
    5,
    expect.stringContaining('policies or networks of its own: MeshPolicy own'),
  ]);
});
