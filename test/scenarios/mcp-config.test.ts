import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectMcp } from '../kits/http/agent-client.ts';
import { ADMIN_PASSWORD, type Harness, loginWithOwn, startHarness } from '../kits/http/harness.ts';
import { launcher, mesh } from '../kits/process/run-command.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const own = hostname().replaceAll(/[^\w.-]/g, '-');
const modeOf = (name: string) => (statSync(path.join(home, name)).mode & 0o777).toString(8);
const readJson = (name: string) => JSON.parse(readFileSync(path.join(home, name), 'utf8'));
const run = (...args: string[]) => mesh(args, { home });
const signIn = ({ url }: Harness) => mesh(['login', '--server', url], { home, env: { MESH_PASSWORD: ADMIN_PASSWORD } });
const configure = async (...args: string[]) => {
  const { code, stdout, stderr } = await run('mcp', 'config', '--json', ...args);
  expect([code, stderr.replace(/^Made the first workspace.*\n/, '')]).toEqual([0, '']);
  return JSON.parse(stdout);
};
const tokenIn = (name: string) => {
  const { mcpServers, servers } = readJson(name);
  return String((mcpServers ?? servers).mesh.headers.Authorization).replace('Bearer ', '');
};
const works = async ({ api }: Harness, token: string) => (await api('GET', '/api/v1/peers', { token })).status;

test('mcp config makes the first workspace and an agent that reads, plans and applies, for its owner alone', async () => {
  await using harness = await startHarness();
  await signIn(harness);
  const { code, stdout } = await run('mcp', 'config');
  expect([code, stdout]).toEqual([0, expect.stringContaining(`as the agent mcp-${own} until`)]);
  expect([modeOf('mcp.json'), existsSync(path.join(home, 'mcp.json.bak'))]).toEqual(['600', false]);
  expect(readJson('mcp.json').mcpServers.mesh).toMatchObject({ type: 'http', url: `${harness.url}/mcp` });
  const token = tokenIn('mcp.json');
  expect([token.startsWith('mesh-agt-'), stdout.includes(token)]).toEqual([true, false]);
  await using agent = await connectMcp(harness.url, token);
  expect(await agent.use('list_peers')).toMatchObject({ items: [] });
  const listed = JSON.parse((await run('agents', '--json')).stdout).items;
  const scopes = ['network:read', 'snapshots:read', 'intents:plan', 'intents:apply'];
  expect(listed).toMatchObject([{ name: `mcp-${own}`, person: 'admin', scopes }]);
});

test("mcp config --output merges into a client's configuration and keeps what it held beside it", async () => {
  await using harness = await startHarness();
  await signIn(harness);
  const before = { mcpServers: { github: { command: 'gh-mcp' } }, theme: 'dark' };
  const file = path.join(home, 'client.json');
  writeFileSync(file, JSON.stringify(before));
  const { backup } = await configure('--client', 'cursor', '--output', file);
  expect(readJson('client.json')).toMatchObject(before);
  expect([backup, readJson('client.json.bak')]).toEqual([`${file}.bak`, before]);

  const made = await configure('--client', 'vscode', '--output', path.join(home, '.vscode', 'mcp.json'));
  expect(readJson('.vscode/mcp.json').servers.mesh.type).toBe('http');
  expect(made.identity.name).toBe(`vscode-${own}`);
  await configure('--client', 'stdio', '--output', path.join(home, 'desktop.json'));
  expect(readJson('desktop.json').mcpServers.mesh.command).toBe(launcher('mesh'));
});

test('mcp config writes where the client that is named or found reads, and says so', async () => {
  await using harness = await startHarness();
  await signIn(harness);
  const named = await configure('--client', 'windsurf');
  expect(named).toMatchObject({
    file: path.join(home, '.codeium/windsurf/mcp_config.json'),
    next: 'Next: Windsurf reads this file; start it again.',
  });
  rmSync(path.join(home, '.codeium'), { recursive: true });
  mkdirSync(path.join(home, '.cursor'));
  expect((await configure()).file).toBe(path.join(home, '.cursor/mcp.json'));
  mkdirSync(path.join(home, '.codeium/windsurf'), { recursive: true });
  const several = await configure();
  expect([several.file, several.next]).toEqual([
    path.join(home, 'mcp.json'),
    expect.stringContaining('Found here: cursor, windsurf.'),
  ]);
});

test('mcp config warns of a token in a Git work tree, and keeps it out of commits only where that is asked for', async () => {
  await using harness = await startHarness();
  await signIn(harness);
  mkdirSync(path.join(home, 'app', '.git'), { recursive: true });
  const line = ['mcp', 'config', '--output', path.join(home, 'app', '.mcp.json')];
  const warned = await run(...line);
  expect(warned.stderr).toMatch(
    /warning: \S+ will hold a token, and is in the Git work tree \S+app: .*\nGive --gitignore/,
  );
  expect([warned.code, existsSync(path.join(home, 'app', '.gitignore'))]).toEqual([0, false]);
  expect((await run(...line, '--gitignore')).stderr).toContain('Added /.mcp.json and /.mcp.json.bak to ');
  expect(readFileSync(path.join(home, 'app', '.gitignore'), 'utf8')).toBe('/.mcp.json\n/.mcp.json.bak\n');
  expect((await run(...line)).stderr).toBe('');
});

test('mcp config leaves a file that it cannot read as it is, and makes no agent', async () => {
  await using harness = await startHarness();
  await signIn(harness);
  const file = path.join(home, 'client.json');
  writeFileSync(file, '{"mcpServers": {');
  const { code, stderr } = await run('mcp', 'config', '--output', file);
  expect([code, stderr]).toEqual([2, expect.stringContaining('was left as it is')]);
  expect(readFileSync(file, 'utf8')).toBe('{"mcpServers": {');
  expect((await run('workspaces')).stdout).toBe('none\n');
});

test('mcp config again renews the same agent, and its earlier token is worth nothing', async () => {
  await using harness = await startHarness();
  await signIn(harness);
  const first = await configure();
  const earlier = tokenIn('mcp.json');
  const again = await configure('--ttl', '60d');
  expect(again.identity).toMatchObject({ id: first.identity.id, name: first.identity.name });
  expect(Date.parse(again.identity.expiresAt)).toBeGreaterThan(Date.parse(first.identity.expiresAt));
  expect([await works(harness, earlier), await works(harness, tokenIn('mcp.json'))]).toEqual([401, 200]);

  // Another file of this machine is another agent: the first one goes on.
  const other = await configure('--output', path.join(home, 'other.json'));
  expect(other.identity.name).toBe(`mcp-${own}-2`);
  expect(await works(harness, tokenIn('mcp.json'))).toBe(200);
  // One that is named is renewed, wherever it was.
  const named = await run('mcp', 'config', '--json', '--name', `mcp-${own}`, '--output', path.join(home, 'named.json'));
  expect(JSON.parse(named.stdout).identity.id).toBe(first.identity.id);
  expect(named.stderr).toContain(`its token in ${path.join(home, 'mcp.json')} is worth nothing now`);
  expect([await works(harness, tokenIn('mcp.json')), await works(harness, tokenIn('named.json'))]).toEqual([401, 200]);
});

test('mcp config in the form of another client leaves no entry that is worth nothing', async () => {
  await using harness = await startHarness();
  await signIn(harness);
  const file = path.join(home, 'client.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { github: { command: 'gh-mcp' } } }));
  await configure('--output', file);
  await configure('--client', 'vscode', '--output', file);
  const { mcpServers, servers } = readJson('client.json');
  expect([mcpServers, Object.keys(servers)]).toEqual([{ github: { command: 'gh-mcp' } }, ['mesh']]);
  const { Authorization } = servers.mesh.headers;
  expect(await works(harness, Authorization.replace('Bearer ', ''))).toBe(200);
});

test('the remembered workspace is named to no other server', async () => {
  await using harness = await startHarness();
  await using other = await startHarness();
  const { token, workspace } = await other.workspace();
  await signIn(harness);
  await configure();
  const env = { MESH_SERVER: other.url, MESH_TOKEN: token };
  expect(await mesh(['peers'], { home, env })).toEqual({ code: 0, stdout: 'none\n', stderr: '' });
  const { stdout } = await mesh(['mcp', 'config', '--personal', '--json', '--output', path.join(home, 'b.json')], {
    home,
    env,
  });
  expect(JSON.parse(stdout)).toMatchObject({ server: other.url, workspace });
});

test('mcp config names what the file held at another address, which lives on there', async () => {
  await using harness = await startHarness();
  await using other = await startHarness();
  await signIn(harness);
  const { identity } = await configure();
  const earlier = tokenIn('mcp.json');
  const { token } = await other.workspace();
  const { code, stderr } = await mesh(['mcp', 'config', '--personal'], {
    home,
    env: { MESH_SERVER: other.url, MESH_TOKEN: token },
  });
  expect([code, stderr]).toEqual([0, expect.stringContaining(`${identity.name} at ${harness.url}, lives on there`)]);
  expect(stderr).toContain(`mesh admin revoke-agent ${identity.id}`);
  expect(await works(harness, earlier)).toBe(200);
});

test('mcp config --personal makes a token of the person, and each kind replaces the other', async () => {
  await using harness = await startHarness();
  await signIn(harness);
  const agent = await configure();
  const ofAgent = tokenIn('mcp.json');
  await configure('--personal');
  const personal = tokenIn('mcp.json');
  expect(personal).toMatch(/^mesh-api-/);
  expect([await works(harness, ofAgent), await works(harness, personal)]).toEqual([401, 200]);
  expect(JSON.parse((await run('agents', agent.identity.id, '--json')).stdout).items[0].phase).toBe('Revoked');
  await configure('--personal');
  expect([await works(harness, personal), await works(harness, tokenIn('mcp.json'))]).toEqual([401, 200]);
  await configure();
  expect(JSON.parse((await run('tokens', '--json')).stdout).items).toEqual([]);
});

test('mcp config takes scopes and reach for a new agent', async () => {
  await using harness = await startHarness();
  await signIn(harness);
  const reach = JSON.stringify([{ ports: [{ protocol: 'TCP', port: 443 }] }]);
  const made = await configure('--name', 'deployer', '--scopes', 'network:read,network:write', '--reach', reach);
  expect(made.identity).toMatchObject({ name: 'deployer', scopes: ['network:read', 'network:write'] });
  expect(JSON.parse((await run('agents', 'deployer', '--json')).stdout).items[0].reach).toEqual(JSON.parse(reach));
});

test('mcp config waits where a second person has to approve, and writes nothing until then', async () => {
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const body = { settings: { requireApproval: true } };
  await harness.api('PATCH', `/api/v1/workspaces/${workspace}`, { token, body });
  await signIn(harness);
  const { code, stdout, stderr } = await run('mcp', 'config');
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^Waits for approval: mesh approve wf_\w+\n$/)]);
  expect(stdout).toContain('Nothing was written: give the same command again once it is approved.');
  expect(readdirSync(home)).not.toContain('mcp.json');
  const [, id = ''] = /(wf_\w+)/.exec(stderr) ?? [];
  expect((await run('approve', id)).stdout).toContain('approved');
  expect((await configure()).identity.name).toBe(`mcp-${own}`);
});

test('mcp config asks for a sign-in first, and tells who may make no agents of another way', async () => {
  expect(await run('mcp', 'config')).toEqual({ code: 3, stdout: '', stderr: 'Sign in first: mesh login\n' });
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const [first, password] = ['given to bob 7', 'quite another phrase 7'];
  const asAdmin = { token, workspace };
  await harness.api('POST', '/api/v1/users', { ...asAdmin, body: { username: 'bob', password: first } });
  await loginWithOwn(harness.api, 'bob', first, password);
  const member = `/api/v1/workspaces/${workspace}/members/bob`;
  await harness.api('PUT', member, { ...asAdmin, body: { role: 'operator' } });
  await mesh(['login', '--server', harness.url, '--username', 'bob'], { home, env: { MESH_PASSWORD: password } });
  const { code, stderr } = await run('mcp', 'config');
  expect([code, stderr]).toEqual([3, expect.stringContaining('mesh mcp config --personal')]);
  expect((await configure('--personal')).identity.kind).toBe('personal');
});
