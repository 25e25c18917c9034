import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { VERSION } from '../../bin/compose/version.ts';
import { ADMIN_PASSWORD, type Harness, startHarness } from '../kits/http/harness.ts';
import { mesh } from '../kits/process/run-command.ts';

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
    const sessions = JSON.parse((await run(['admin', 'list-sessions', '-o', 'json'])).stdout);
    expect(sessions.items).toMatchObject([{ current: true, client: `mesh on ${hostname()}` }]);
    expect((await run(['logout'])).code).toBe(0);
    // The server stays known.
    expect(await run(['admin', 'get-me'])).toMatchObject({ code: 3, stderr: 'Sign in first: mesh login\n' });
    expect((await run(['login'], { env: { MESH_PASSWORD: ADMIN_PASSWORD } })).stdout).toContain(harness.url);
  });

  test('logout --everywhere ends sessions elsewhere too, and needs a session to do so', async () => {
    await using harness = await startHarness();
    const elsewhere = await harness.login('admin', ADMIN_PASSWORD);
    await signIn(harness);
    const { stdout } = await run(['logout', '--everywhere']);
    expect(stdout).toMatch(/^Signed out everywhere: sessions \d+, OAuth clients 0\./);
    expect((await harness.api('GET', '/api/v1/users/me', { token: elsewhere })).status).toBe(401);
    expect(await run(['logout', '--everywhere'])).toMatchObject({ code: 3, stderr: 'Sign in first: mesh login\n' });
  });

  test('says what is wrong with the server before it reads a password, and so does passwd', async () => {
    const other = createServer((request, response) => {
      if (request.url === '/api/v1/discovery' && request.headers.host?.startsWith('localhost')) response.end('{}');
      else response.writeHead(404).end('<h1>Not here</h1>');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const told = async (args: string[], env: Record<string, string> = {}) => {
      // Were a password asked for, the empty input would be told of.
      const { code, stderr } = await run(args, { env });
      expect(stderr).not.toContain('assword');
      return [code, stderr.trimEnd()];
    };
    const name = 'Name the control plane with --server or MESH_SERVER.';
    const web = `http://127.0.0.1:${port}`;
    expect(await told(['login', '--server', web])).toEqual([7, `${web} answered 404, and not as Mesh does. ${name}`]);
    const named = `http://localhost:${port}`;
    expect(await told(['login', '--server', named])).toEqual([7, `${named} is no Mesh control plane. ${name}`]);
    await new Promise((resolve) => other.close(resolve));
    const away = `${web} does not answer (ECONNREFUSED). Is meshd running there? ${name}`;
    expect(await told(['login', '--server', web])).toEqual([7, away]);
    expect(await told(['passwd'], { MESH_SERVER: web, MESH_TOKEN: 'mesh_ses_x' })).toEqual([7, away]);
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
    expect((await run(['workspaces'])).stdout).toBe('none\n');
    expect((await signIn(harness)).code).toBe(3);
    expect((await signIn(harness, 'an even better phrase 9')).stdout).toContain('Next: mesh mcp config');
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

test('a token is warned about before it travels in clear to another machine', async () => {
  const { code, stderr } = await run(['admin', 'get-me', '--server', 'http://mesh.invalid', '--token', 'x']);
  expect(code).toBe(7);
  expect(stderr).toContain('warning: http://mesh.invalid is not encrypted');
});

test('a word that is no command gets one line with the nearest, and a wrong option where help is', async () => {
  const told = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([2, '']);
    return stderr;
  };
  expect(await told('peer')).toBe("unknown command 'peer': did you mean 'peers'?\n");
  expect(await told('wander')).toBe("unknown command 'wander'. See mesh --help\n");
  expect(await told('admin', 'list-peer')).toBe("unknown command 'list-peer': did you mean 'list-peers'?\n");
  expect(await told('login', '--fast')).toBe("unknown option '--fast'. See mesh login --help\n");
  expect(await told('peers', '--phas', 'ready')).toBe("unknown option '--phas': did you mean '--phase'?\n");
  const version = await run(['--version']);
  expect([version.code, version.stdout]).toEqual([0, `${VERSION}\n`]);
});

test('under -o json a failure is one object on standard error, whoever found it', async () => {
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const env = { MESH_SERVER: harness.url, MESH_TOKEN: token, MESH_WORKSPACE: workspace };
  const failure = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(args, { env });
    expect(stdout).toBe('');
    const problem = JSON.parse(stderr);
    expect(problem.exitCode).toBe(code);
    return problem;
  };
  expect(await failure('peers', 'nobody', '-o', 'json')).toMatchObject({ code: 'not_found', status: 404, exitCode: 4 });
  expect(await failure('pears', '--json')).toMatchObject({ code: 'invalid_input', exitCode: 2 });
  const away = ['peers', '--json', '--server', 'http://127.0.0.1:9'];
  expect(await failure(...away)).toMatchObject({ code: 'unavailable', exitCode: 7 });
});

test.each([
  ['login', ['login'], 'MESH_PASSWORD'],
  ['passwd', ['passwd'], 'standard input'],
  ['otp enroll', ['otp', 'enroll'], 'standard input'],
  ['otp disable', ['otp', 'disable'], 'standard input'],
  ['otp recovery-codes', ['otp', 'recovery-codes'], 'standard input'],
])('mesh %s without a terminal asks nothing, ends with 2 and names the ways', async (_name, args, way) => {
  await using harness = await startHarness();
  await signIn(harness);
  const { code, stdout, stderr } = await run(args, { env: { MESH_SERVER: harness.url } });
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(way)]);
  expect(stderr).not.toMatch(/(?:assword|Code)[^.]*: $/);
});

test('mesh admin warns of a password on the command line, and of none in a file or on standard input', async () => {
  await using harness = await startHarness();
  await signIn(harness);
  const plain = await run(['admin', 'create-user', '--username', 'bob', '--password', 'given to bob 1']);
  expect([plain.code, plain.stderr]).toEqual([
    0,
    expect.stringMatching(/^--password shows .* processes.*--body @FILE/),
  ]);
  const stdin = JSON.stringify({ username: 'eve', password: 'given to eve 1' });
  expect(await run(['admin', 'create-user', '--body', '@-'], { stdin })).toMatchObject({ code: 0, stderr: '' });
});
