import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { connect } from 'node:net';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { loadConfig } from '../../bin/compose/config.ts';
import { BUILT_IN_PASSWORD, FIRST_LOGIN_TOKEN_FILE } from '../../core/identity/first-accounts.ts';
import { testCertificate } from '../../net/nats/test-certificate.ts';
import { apiOf, loginWithOwn, startHarness } from '../kits/http/harness.ts';
import { freshKey } from '../kits/plane/devices.ts';
import { freshDirectory, type Meshd, type MeshdOptions, startMeshd } from '../kits/process/meshd.ts';
import { mesh } from '../kits/process/run-command.ts';
import { verifies } from '../verifies.ts';

const PASSWORD = 'a configured password';
const CONFIG = `app:\n  initAdmins:\n    - username: admin\n      password: ${PASSWORD}\n`;

const started: Meshd[] = [];
function start(options: MeshdOptions = {}): Meshd {
  const meshd = startMeshd(options);
  started.push(meshd);
  return meshd;
}
afterEach(async () => {
  for (const meshd of started.splice(0)) {
    await meshd.stop();
    rmSync(meshd.directory, { recursive: true, force: true });
  }
});

function configured(text = CONFIG): string {
  const directory = freshDirectory();
  writeFileSync(path.join(directory, 'config.yaml'), text);
  return directory;
}

interface Call {
  readonly token?: string;
  readonly workspace?: string;
  readonly body?: unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the route it calls.
async function call(url: string, method: string, route: string, { token, workspace, body }: Call = {}): Promise<any> {
  const response = await fetch(`${url}/api/v1${route}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(workspace !== undefined && { 'x-workspace-id': workspace }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return response.json();
}

/** What a device that joins is told, and every secret that was given out on the way. */
async function joinedTo(url: string) {
  const token = await loginWithOwn(apiOf(url), 'admin', PASSWORD, 'chosen by the admin 7');
  const fields = { slug: 'prod', namespace: 'prod', displayName: 'Prod', maxNodeCount: 5 };
  const added = await call(url, 'POST', '/workspaces/add', { token, body: fields });
  const scoped = { token, workspace: added.data.id };
  const join = await call(url, 'POST', '/token/generate', { ...scoped, body: { name: 'x', expiry: '' } });
  const device = { name: 'web', platform: 'linux', publicKey: freshKey().publicKey };
  const registered = await call(url, 'POST', '/devices/register', { token: join.token, body: device });
  const graph = await call(url, 'GET', '/devices/self/graph', { token: registered.deviceToken });
  const secrets = [token, join.token, registered.deviceToken, graph.relay.credential] as string[];
  return { registered, graph, secrets };
}

test('meshd --standalone --config-dir starts everything and says where, and what to do next', async () => {
  verifies('start-standalone', 'start-relay', 'credentials-file');
  const meshd = start();
  const url = await meshd.ready();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await call(url, 'GET', '/discovery')).name).toBe('mesh');
  expect(meshd.stdout()).toContain(`MCP        ${url}/mcp`);
  expect(meshd.stdout()).toContain(`Next: bin/mesh login --server ${url}`);
  for (const listener of ['Bus', 'Relay']) {
    const [, host, port] = new RegExp(`${listener} +(\\S+):(\\d+)`).exec(meshd.stdout()) ?? [];
    const socket = connect(Number(port), host);
    await once(socket, 'connect');
    socket.destroy();
  }
  expect(existsSync(path.join(meshd.directory, 'mesh.db'))).toBe(true);
  const mode = statSync(path.join(meshd.directory, 'credentials.json')).mode & 0o777;
  expect(mode.toString(8)).toBe('600');
  expect(await meshd.stop()).toBe(0);
});

test('the first password is told at a start while it is good, and not once it was changed', async () => {
  const directory = configured('');
  const first = start({ directory });
  const url = await first.ready();
  const told = `first password: ${BUILT_IN_PASSWORD}`;
  expect(first.stdout()).toContain(told);
  expect(first.stderr()).toContain(path.join(directory, FIRST_LOGIN_TOKEN_FILE));
  const old = { username: 'admin', password: BUILT_IN_PASSWORD };
  const { token } = (await call(url, 'POST', '/users/login', { body: old })).data;
  const passwords = { oldPassword: BUILT_IN_PASSWORD, newPassword: PASSWORD };
  await call(url, 'PUT', '/users/me/password', { token, body: passwords });
  await first.stop();
  const again = start({ directory });
  await again.ready();
  expect(again.stdout()).not.toContain(told);
  expect(again.stderr()).not.toContain('built-in password');
});

test('without the variables of the contract their defaults hold, and each loopback address is warned of', async () => {
  verifies('env-listen', 'env-signaling-url', 'env-stun-url', 'env-relay-advertise', 'start-relay');
  const { env } = loadConfig({}, '/nonexistent');
  expect(env).toMatchObject({
    MESH_LISTEN: { host: '0.0.0.0', port: 18_090 },
    MESH_BUS_LISTEN: { host: '0.0.0.0', port: 4_222 },
    MESH_RELAY_LISTEN: { host: '0.0.0.0', port: 6_266 },
    MESH_STUN_LISTEN: { host: '0.0.0.0', port: 3_478 },
    MESH_EDITION: 'pro',
  });
  const meshd = start({ directory: configured() });
  const { registered, graph } = await joinedTo(await meshd.ready());
  expect(registered).toMatchObject({ signalingUrl: 'nats://127.0.0.1:4222', stunUrl: '127.0.0.1:3478' });
  expect(graph.relay.url).toBe('127.0.0.1:6266');
  for (const variable of ['MESH_SIGNALING_URL', 'MESH_RELAY_ADVERTISE_URL', 'MESH_STUN_URL'])
    expect(meshd.stderr()).toContain(`"variable":"${variable}"`);
});

test('each variable of the contract does what it says, and no secret reaches the log', async () => {
  verifies('env-listen', 'env-signaling-url', 'env-stun-url', 'env-relay-advertise', 'credentials-file');
  const relayToken = 'a relay token that is long enough';
  const meshd = start({
    directory: configured(),
    env: {
      MESH_LISTEN: '127.0.0.2:0',
      MESH_SIGNALING_URL: 'nats://bus.example.net:4222',
      MESH_RELAY_ADVERTISE_URL: 'relay.example.net:6266',
      MESH_RELAY_URL: 'relay.example.net:6266',
      MESH_STUN_URL: 'stun.example.net:3478',
      MESH_LRP_AUTH_TOKEN: relayToken,
      MESH_LOG_LEVEL: 'trace',
    },
  });
  const url = await meshd.ready();
  expect(new URL(url).hostname).toBe('127.0.0.2');
  const { registered, graph, secrets } = await joinedTo(url);
  const signalingUrl = 'nats://bus.example.net:4222';
  expect(await call(url, 'GET', '/discovery')).toMatchObject({ signalingUrl, stunUrl: 'stun.example.net:3478' });
  expect(registered).toMatchObject({ signalingUrl, stunUrl: 'stun.example.net:3478' });
  expect(graph.relay.url).toBe('relay.example.net:6266');

  await meshd.stop();
  const stored = JSON.parse(readFileSync(path.join(meshd.directory, 'credentials.json'), 'utf8'));
  const secret = [...secrets, PASSWORD, relayToken, ...(Object.values(stored) as string[])];
  const output = meshd.stdout() + meshd.stderr();
  expect(output).toContain('"msg":"request"');
  expect(secret.filter((text) => output.includes(text))).toEqual([]);
});

test('everything that is wrong with the configuration is said at once, by name', async () => {
  const env = {
    MESH_LISTEN: 'everywhere',
    MESH_SIGNALING_URL: 'http://127.0.0.1:4222',
    MESH_RELAY_ADVERTISE_URL: 'relay.example.net',
    MESH_RELAY_URL: '127.0.0.1:99999',
    MESH_STUN_URL: 'stun:3478:udp',
    MESH_EDITION: 'gold',
    MESH_TLS_CERT: '/nonexistent/cert.pem',
  };
  const meshd = start({ directory: configured('app:\n  initAdmin: []\n  planTtl: soon\n'), env });
  expect(await meshd.ended).toBe(1);
  for (const name of [...Object.keys(env), 'config.yaml app', 'config.yaml app.planTtl'])
    expect(meshd.stderr()).toContain(`  - ${name}`);
  expect(meshd.stderr()).not.toMatch(/\n\s+at /);
});

test('a start says who reaches the API and that it is in clear, names misspelt variables, and takes a short relay token', async () => {
  const env = { MESH_LISTEN: '0.0.0.0:0', MESH_LISTN: 'x', MESH_LRP_AUTH_TOKEN: 'a short one' };
  const meshd = start({ env });
  const port = new URL(await meshd.ready()).port;
  expect(meshd.stdout()).toContain(
    `Listening  0.0.0.0:${port}: every host that reaches this machine; http://127.0.0.1:${port} from here`,
  );
  expect(meshd.stdout()).toContain(`Warning: The API on 0.0.0.0:${port} is not encrypted (http)`);
  expect(meshd.stdout()).toMatch(/^ {2}Edition {4}Pro: /m);
  expect(meshd.stderr()).toContain('did you mean MESH_LISTEN?');
  expect(meshd.stderr()).toContain('fewer than 16 characters');
  expect(meshd.stderr()).not.toContain(env.MESH_LRP_AUTH_TOKEN);
});

test('a start that is refused names misspelt variables too, as one of them may be what is missing', async () => {
  const meshd = start({ env: { MESH_EDITION: 'gold', MESH_STORE_ULR: 'mongodb://db1/mesh' } });
  expect(await meshd.ended).toBe(1);
  expect(meshd.stderr()).toMatch(/ {2}- MESH_STORE_ULR: there is no such variable.*: did you mean MESH_STORE_URL\?/);
});

test.each([[['peers']], [['up']]])('mesh %s names a misspelt variable once', async (command) => {
  const { stderr } = await mesh(command, { home: freshDirectory(), env: { MESH_SEVER: 'http://127.0.0.1:1' } });
  expect(stderr.match(/^warning: there is no variable MESH_SEVER: did you mean MESH_SERVER\?$/gm)).toHaveLength(1);
});

test('app.initAdmins that is ignored, as accounts exist, says so at start and names what to do', async () => {
  const directory = configured();
  const first = start({ directory });
  await first.ready();
  expect(first.stderr()).not.toContain('reset-password');
  await first.stop();
  const again = start({ directory });
  await again.ready();
  expect(again.stderr()).toMatch(/"variable":"app.initAdmins".*it is ignored.*meshd reset-password USER/);
});

test('credentials that others can read stop the start, which says what to do', async () => {
  verifies('credentials-file');
  const directory = configured();
  const first = start({ directory });
  await first.ready();
  expect(await first.stop()).toBe(0);
  const file = path.join(directory, 'credentials.json');
  chmodSync(file, 0o640);
  const second = start({ directory });
  expect(await second.ended).toBe(1);
  expect(second.stderr()).toContain(`Run: chmod 600 ${file}`);
});

test('a second meshd on the same directory is refused and told who holds it', async () => {
  const first = start();
  await first.ready();
  const second = start({ directory: first.directory });
  expect(await second.ended).toBe(1);
  expect(second.stderr()).toContain(`is in use by another meshd (pid ${first.child.pid})`);
});

test('a second SIGTERM ends a stop that waits for a client', async () => {
  const meshd = start();
  const { hostname, port } = new URL(await meshd.ready());
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write('POST /api/v1/users/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n');
  socket.write('Content-Length: 100\r\nExpect: 100-continue\r\n\r\n');
  await once(socket, 'data');
  meshd.child.kill('SIGTERM');
  await expect.poll(() => meshd.stderr()).toContain('"msg":"stopping"');
  meshd.child.kill('SIGTERM');
  expect(await meshd.ended).toBe(1);
  socket.destroy();
});

test('npm start passes its arguments on, and a signal to its group ends everything', async () => {
  const meshd = start({ command: ['npm', 'start', '--'] });
  const url = await meshd.ready();
  expect((await call(url, 'GET', '/discovery')).api).toBe('v1');
  process.kill(-(meshd.child.pid ?? Number.NaN), 'SIGTERM');
  await meshd.ended;
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

test('meshd says all that it needs as one of several control planes', async () => {
  const without = start({ command: ['bin/meshd'] });
  expect(await without.ended).toBe(1);
  expect(without.stderr()).toMatch(/MESH_STORE_URL: without --standalone .*mongodb:/);
  expect(without.stderr()).toMatch(/MESH_KEYS_FILE: .*meshd keys <file>/);
  expect(without.stderr()).toMatch(/MESH_BUS_LISTEN: .*set MESH_BUS_LISTEN=off/);
  const alone = start({ env: { MESH_KEYS_FILE: 'keys.json' } });
  expect(await alone.ended).toBe(1);
  expect(alone.stderr()).toMatch(
    /MESH_KEYS_FILE: is for control planes that share a store, .*MESH_STORE_URL names none: set that/,
  );
  const forgotten = start({ command: ['bin/meshd'], env: { MESH_KEYS_FILE: 'keys.json', MESH_BUS_LISTEN: 'off' } });
  expect(await forgotten.ended).toBe(1);
  expect(forgotten.stderr()).toMatch(
    /2 problem\(s\):\n.* MESH_STORE_URL: without --standalone .*mongodb:.*\n.* MESH_KEYS_FILE: keys\.json is not there/,
  );
});

test('MESH_TLS_CERT and MESH_TLS_KEY serve https', async () => {
  const directory = configured();
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => path.join(directory, name)) as [string, string];
  writeFileSync(cert, testCertificate.cert);
  writeFileSync(key, testCertificate.key, { mode: 0o600 });
  const meshd = start({ directory, env: { MESH_TLS_CERT: cert, MESH_TLS_KEY: key } });
  const url = await meshd.ready();
  expect(url).toMatch(/^https:/);
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const ca = testCertificate.cert;
    const request = get(`${url}/api/v1/discovery`, { ca, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
  });
  expect(status).toBe(200);
  await expect(fetch(url.replace('https', 'http'))).rejects.toThrow();
});

test('the first password is the built-in one or that of app.initAdmins, and it has to be changed', async () => {
  verifies('admin-bootstrap', 'admin-password-change');
  await using plain = await startHarness({ config: {} });
  const token = await plain.login('admin', BUILT_IN_PASSWORD);
  const early = await plain.api('GET', '/api/v1/workspaces', { token });
  expect([early.status, early.body.code]).toEqual([403, 'password_change_required']);
  const passwords = { oldPassword: BUILT_IN_PASSWORD, newPassword: 'chosen-by-the-admin' };
  const changed = await plain.api('PUT', '/api/v1/users/me/password', { token, body: passwords });
  expect(changed.status).toBe(200);
  expect((await plain.api('GET', '/api/v1/users/me', { token })).status).toBe(401);
  const again = await plain.login('admin', passwords.newPassword);
  expect((await plain.api('GET', '/api/v1/workspaces', { token: again })).status).toBe(200);

  await using given = await startHarness({
    config: { app: { initAdmins: [{ username: 'admin', password: PASSWORD }] } },
  });
  const login = (password: string) =>
    given.api('POST', '/api/v1/users/login', { body: { username: 'admin', password } });
  expect((await login(BUILT_IN_PASSWORD)).status).toBe(401);
  expect((await login(PASSWORD)).body.data.passwordChangeRequired).toBe(true);
  const log = [...plain.log, ...given.log].join('\n');
  const secrets = [...plain.secrets, ...given.secrets, PASSWORD, BUILT_IN_PASSWORD, passwords.newPassword];
  expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
});
