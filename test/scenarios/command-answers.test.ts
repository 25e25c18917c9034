import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { mesh } from '../kits/process/run-command.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test('mesh admin says on standard error who lets a held call go on, and keeps JSON alone on standard output', async () => {
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const body = { settings: { requireApproval: true } };
  await harness.api('PATCH', `/api/v1/workspaces/${workspace}`, { token, body });
  const env = { MESH_SERVER: harness.url, MESH_TOKEN: token, MESH_WORKSPACE: workspace };
  const policy = ['create-policy', '--name', 'shut', '--spec', '{"action":"DENY","peerSelector":{}}'];
  for (const json of [[], ['--json']]) {
    const { code, stdout, stderr } = await mesh(['admin', ...policy, ...json], { home, env });
    expect([code, stdout]).toEqual([0, expect.stringMatching(json.length > 0 ? /^\{/ : /^status +pending_approval\n/)]);
    const [id] = /wf_\w+/.exec(stdout) ?? [];
    expect(stderr).toBe(`Waits for approval: mesh approve ${id}\n`);
  }
});

test('mesh admin takes the workspace that it shows or changes as an argument', async () => {
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const env = { MESH_SERVER: harness.url, MESH_TOKEN: token, MESH_WORKSPACE: 'another' };
  const { code, stdout } = await mesh(['admin', 'get-workspace', workspace, '--json'], { home, env });
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { id: workspace }]);
  const update = ['admin', 'update-workspace', workspace, '--display-name', 'Shop', '--json'];
  expect(JSON.parse((await mesh(update, { home, env })).stdout)).toMatchObject({ id: workspace, displayName: 'Shop' });
});

test('mesh invite shows a held call as mesh admin does, and no QR code', async () => {
  const held = { status: 'pending_approval', workflow_id: 'wf_1', message: 'Nothing has changed yet.' };
  const server = createServer((_, response) => response.writeHead(202).end(JSON.stringify(held)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { MESH_SERVER: `http://127.0.0.1:${port}`, MESH_TOKEN: 'x' };
  for (const json of [[], ['--json']]) {
    const { code, stdout, stderr } = await mesh(['invite', ...json], { home, env });
    expect(code).toBe(0);
    if (json.length > 0) expect(JSON.parse(stdout)).toEqual(held);
    else expect(stdout).toMatch(/^status +pending_approval\nworkflow_id +wf_1\n/);
    expect(stderr).toBe('Waits for approval: mesh approve wf_1\n');
  }
  server.close();
  await once(server, 'close');
});

test('mesh tells of each workflow of a held call its workspace, and who approved one what it still takes', async () => {
  const [one, two] = [
    { workflow_id: 'wf_1', workspace: 'prod' },
    { workflow_id: 'wf_2', workspace: 'lab' },
  ];
  const held = { status: 'pending_approval', workflow_id: 'wf_1', workflows: [one, two], message: 'Nothing yet.' };
  const approved = {
    status: 'approved',
    summary: 'Delete grace',
    error: null,
    awaits: 'The people of another workspace.',
  };
  let isAnother = false;
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('Content-Type', 'application/json');
    if (url.includes('/approve')) response.end(JSON.stringify(approved));
    else response.writeHead(202).end(JSON.stringify({ ...held, ...(isAnother && { another_person: true }) }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { MESH_SERVER: `http://127.0.0.1:${port}`, MESH_TOKEN: 'x', MESH_WORKSPACE: 'ws_1' };
  const run = (...args: string[]) => mesh(args, { home, env });
  const asked = ['admin', 'delete-user', 'grace'];
  expect((await run(...asked)).stderr).toBe(
    'Waits for approval: mesh approve wf_1 --workspace prod\nWaits for approval: mesh approve wf_2 --workspace lab\n',
  );
  isAnother = true;
  expect((await run(...asked)).stderr).toBe('Another person has to approve wf_1 in prod, and wf_2 in lab.\n');
  expect((await run('approve', 'wf_1')).stdout).toBe(
    'wf_1 is approved: Delete grace\nNothing has changed yet. The people of another workspace.\n',
  );
  server.close();
  await once(server, 'close');
});

test('who is signed in and names no workspace is refused nothing: their only one is found first', async () => {
  await using harness = await startHarness();
  const { token } = await harness.workspace();
  const asked: string[] = [];
  const server = createServer(async ({ url = '', headers, method = 'GET' }, response) => {
    const { authorization = '', 'x-workspace-id': workspace } = headers;
    const answer = await fetch(new URL(url, harness.url), {
      method,
      headers: { authorization, ...(typeof workspace === 'string' && { 'x-workspace-id': workspace }) },
    });
    asked.push(`${answer.status} ${url.split('?')[0]}`);
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { MESH_SERVER: `http://127.0.0.1:${port}`, MESH_TOKEN: token };
  const askedBy = async (...args: string[]) => {
    asked.length = 0;
    expect(await mesh(args, { home, env })).toMatchObject({ code: 0 });
    return [...asked];
  };
  expect(await askedBy('admin', 'list-peers')).toEqual(['200 /api/v1/workspaces', '200 /api/v1/peers']);
  expect(await askedBy('audit', 'verify')).not.toContainEqual(expect.stringMatching(/^4/));
  // What is in no workspace, or in the path, is asked at once.
  expect(await askedBy('admin', 'list-users')).toEqual(['200 /api/v1/users']);
  server.close();
  await once(server, 'close');
});

test('a command whose change could not be carried out ends with 1, and leaves what comes after it', async () => {
  const failed = {
    status: 'failed',
    summary: 'Opens ssh.',
    error: 'invalid_input: too late',
    message: 'It is failed.',
  };
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    const done = { status: 'executed', summary: 'Opens web.', error: null };
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(url.includes('wf_1') ? done : failed));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { MESH_SERVER: `http://127.0.0.1:${port}`, MESH_TOKEN: 'x', MESH_WORKSPACE: 'ws_1' };
  const run = (...args: string[]) => mesh(args, { home, env });
  const one = await run('approve', 'wf_2');
  expect([one.code, one.stdout]).toEqual([
    1,
    expect.stringMatching(/^wf_2 is failed: .*too late\nNothing has changed/),
  ]);
  const several = await run('approve', 'wf_1', 'wf_2', 'wf_3');
  expect([several.code, several.stderr]).toEqual([1, 'Left as it was: wf_3\n']);
  expect(several.stdout).toMatch(/^wf_1 is executed: Opens web\.\nwf_2 is failed: /);
  expect(asked.filter((url) => url.includes('wf_3'))).toEqual([]);
  expect((await run('admin', 'approve-workflow', 'wf_2')).code).toBe(1);
  expect((await run('admin', 'get-workflow', 'wf_2')).code).toBe(0);
  expect((await run('admin', 'apply-network-change', '--plan-id', 'plan_1', '--approved-by', 'ada')).code).toBe(1);
  server.close();
  await once(server, 'close');
});

test('an option that takes a list takes plain words with commas between them, and JSON', async () => {
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const env = { MESH_SERVER: harness.url, MESH_TOKEN: token, MESH_WORKSPACE: workspace };
  for (const scopes of ['network:read,intents:plan', '["network:read","intents:plan"]', 'network:read, intents:plan']) {
    const args = ['admin', 'create-api-token', '--name', scopes.length.toString(), '--scopes', scopes, '--json'];
    const ran = await mesh(args, { home, env });
    expect([ran.stderr, ran.code]).toEqual(['', 0]);
    expect(JSON.parse(ran.stdout).scopes).toEqual(['network:read', 'intents:plan']);
  }
  const one = await mesh(['admin', 'create-api-token', '--name', 'one', '--scopes', 'network:read', '--json'], {
    home,
    env,
  });
  expect(JSON.parse(one.stdout).scopes).toEqual(['network:read']);
});

test('a table of mesh admin has the columns of the operation, and says on standard error how many fields are left out', async () => {
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const env = { MESH_SERVER: harness.url, MESH_TOKEN: token, MESH_WORKSPACE: workspace };
  const listed = await mesh(['admin', 'list-networks'], { home, env });
  expect(listed.stdout).toMatch(/^Name +Addresses +Default +Peers\ndefault +10\.96\.0\.0\/\d+ +\w+ +0\n$/);
  expect(listed).toMatchObject({ code: 0, stderr: expect.stringMatching(/^\d+ more fields with -o json\n$/) });
  const all = await mesh(['admin', 'list-networks', '-o', 'json'], { home, env });
  expect([Object.keys(JSON.parse(all.stdout).items[0]).length > 4, all.stderr]).toEqual([true, '']);
});
