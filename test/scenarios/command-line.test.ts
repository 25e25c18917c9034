import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectMcp } from '../agent-client.ts';
import { ADMIN_PASSWORD, type Harness, startHarness } from '../harness.ts';
import { launcher, mesh } from '../run-command.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const modeOf = (name: string) => (statSync(path.join(home, name)).mode & 0o777).toString(8);
const run = (args: readonly string[], more: { env?: Record<string, string>; stdin?: string } = {}) =>
  mesh(args, { home, ...more });
const signIn = ({ url }: Harness, password = ADMIN_PASSWORD) =>
  run(['login', '--server', url], { env: { MESH_PASSWORD: password } });

describe('mesh login', () => {
  test('keeps the session in a file that only its owner can read, and logout forgets it', async () => {
    await using harness = await startHarness();
    const { code, stdout } = await signIn(harness);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Signed in to ${harness.url} as admin`)]);
    expect(modeOf('session.json')).toBe('600');
    expect(stdout).not.toContain(JSON.parse(readFileSync(path.join(home, 'session.json'), 'utf8')).token);
    expect((await run(['logout'])).code).toBe(0);
    expect((await run(['admin', 'get-me', '--server', harness.url])).code).toBe(3);
  });

  test('refuses a wrong password with the exit code of a refusal, and stores nothing', async () => {
    await using harness = await startHarness();
    const { code, stderr } = await signIn(harness, 'wrong');
    expect([code, stderr.trim().split('\n').length]).toEqual([3, 1]);
    expect(() => modeOf('session.json')).toThrow('ENOENT');
  });

  test('is followed by mesh passwd, after which the old password is worth nothing', async () => {
    await using harness = await startHarness();
    await signIn(harness);
    const changed = await run(['passwd'], { stdin: `${ADMIN_PASSWORD}\nan even better phrase 9\n` });
    expect([changed.code, changed.stderr]).toEqual([0, '']);
    expect((await signIn(harness)).code).toBe(3);
    expect((await signIn(harness, 'an even better phrase 9')).stdout).toContain('Next: mesh mcp config');
  });
});

describe('mesh mcp config', () => {
  test('makes the first workspace and a configuration whose token works, readable by its owner only', async () => {
    await using harness = await startHarness();
    await signIn(harness);
    const { code, stdout } = await run(['mcp', 'config']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('mcp.json')]);
    expect(modeOf('mcp.json')).toBe('600');
    const { mcpServers } = JSON.parse(readFileSync(path.join(home, 'mcp.json'), 'utf8'));
    expect(mcpServers.mesh).toMatchObject({ type: 'http', url: `${harness.url}/mcp` });
    const token = mcpServers.mesh.headers.Authorization.replace('Bearer ', '');
    expect(stdout).not.toContain(token);
    await using agent = await connectMcp(harness.url, token);
    expect(await agent.use('list_peers')).toEqual({ items: [] });
    expect((await run(['mcp', 'config', '--client', 'stdio'])).code).toBe(0);
    const stdio = JSON.parse(readFileSync(path.join(home, 'mcp.json'), 'utf8'));
    expect(stdio.mcpServers.mesh.command).toBe(launcher('mesh'));
  });

  test('asks for a sign-in first', async () => {
    const { code, stderr } = await run(['mcp', 'config']);
    expect([code, stderr]).toEqual([3, 'Sign in first: mesh login\n']);
  });
});

test('mesh admin calls any operation, prints JSON alone on request, and exits by the kind of failure', async () => {
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const target = ['--server', harness.url, '--token', token, '--workspace', workspace];
  const listed = await run(['admin', 'list-peers', ...target, '--json']);
  expect([listed.code, JSON.parse(listed.stdout), listed.stderr]).toEqual([0, { items: [] }, '']);
  expect((await run(['admin', 'list-peers', ...target])).stdout).toBe('none\n');

  const codes = {
    2: ['admin', 'list-peers', ...target, '--limit', 'many'],
    3: ['admin', 'list-peers', '--server', harness.url, '--token', 'nonsense', '--workspace', workspace],
    4: ['admin', 'get-peer', ...target, '--id', 'nobody'],
    7: ['admin', 'list-peers', '--server', 'http://127.0.0.1:9', '--token', token],
  };
  for (const [code, args] of Object.entries(codes)) {
    const outcome = await run(args);
    expect([args.slice(0, 2), outcome.code, outcome.stdout]).toEqual([args.slice(0, 2), Number(code), '']);
    expect(outcome.stderr).not.toContain('    at ');
  }
});

test('mesh admin exits with the code of the edition where an operation is Pro', async () => {
  await using harness = await startHarness({ env: { MESH_EDITION: 'community' } });
  const { token, workspace } = await harness.workspace();
  const target = ['--server', harness.url, '--token', token, '--workspace', workspace];
  const { code, stderr } = await run(['admin', 'list-snapshots', ...target]);
  expect([code, stderr]).toEqual([6, expect.stringContaining('Pro edition required')]);
});

describe('mesh policy test', () => {
  const network = `
peers:
  - { name: web-1, labels: { role: web } }
  - { name: db-1, labels: { role: db } }
policies:
  - name: web-to-db
    spec:
      action: ALLOW
      peerSelector: { matchLabels: { role: db } }
      ingress: [{ from: [{ peerSelector: { matchLabels: { role: web } } }], ports: [{ protocol: TCP, port: 5432 }] }]
assertions:
  - { src: web-1, dst: db-1, protocol: TCP, port: 5432, expect: allow }
`;
  const check = (text: string) => {
    const file = path.join(home, 'network.yaml');
    writeFileSync(file, text);
    return run(['policy', 'test', file]);
  };

  test('exits 0 when every assertion holds and 1 when one fails, naming the rule', async () => {
    const holds = await check(network);
    expect([holds.code, holds.stdout]).toEqual([0, expect.stringContaining('1 hold, 0 fail')]);
    const fails = await check(`${network}  - { src: web-1, dst: db-1, protocol: TCP, port: 22, expect: allow }\n`);
    expect([fails.code, fails.stdout]).toEqual([1, expect.stringContaining('FAIL web-1 -> db-1 TCP 22')]);
  });

  test('exits 2 for a file that is not there or does not fit, and says why', async () => {
    expect((await run(['policy', 'test', path.join(home, 'none.yaml')])).code).toBe(2);
    const wrong = await check('peers: 7\n');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('The file does not fit')]);
  });
});

test('mesh completion prints a script that bash accepts and that knows the commands', async () => {
  const { code, stdout } = await run(['completion']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('list-peers')]);
  const script = path.join(home, 'mesh.bash');
  writeFileSync(script, stdout);
  const ask = `source ${script}; COMP_WORDS=(mesh mcp con); COMP_CWORD=2; _mesh; echo "\${COMPREPLY[@]}"`;
  const answer = await promisify(execFile)('bash', ['-c', ask]);
  expect(answer.stdout).toBe('config\n');
});

test('a token is warned about before it travels in clear to another machine', async () => {
  const { code, stderr } = await run(['admin', 'get-me', '--server', 'http://mesh.invalid', '--token', 'x']);
  expect(code).toBe(7);
  expect(stderr).toContain('warning: http://mesh.invalid is not encrypted');
});

test('an unknown command and a wrong option exit 2 with help on stderr', async () => {
  for (const args of [['fly'], ['login', '--fast']]) {
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('Usage: mesh')]);
  }
  const version = await run(['--version']);
  expect([version.code, version.stdout]).toEqual([0, '0.1.0\n']);
});
