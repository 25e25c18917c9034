import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../bin/compose/config.ts';
import { BUILT_IN_PASSWORD, FIRST_LOGIN_TOKEN_FILE } from '../../core/identity/first-accounts.ts';
import { testCertificate } from '../../net/nats/test-certificate.ts';
import { closeToOthers } from '../../storage/file-mode.ts';
import { ADMIN_PASSWORD, configure, FIRST_ADMIN, loginWithOwn, startHarness } from '../kits/http/harness.ts';
import { webAndDatabase } from '../kits/http/network-setup.ts';
import { planIdOf } from '../kits/http/plan-id.ts';
import { freshDirectory } from '../kits/process/meshd.ts';
import { mesh } from '../kits/process/run-command.ts';

/** What stands between a control plane and its callers: browsers, reverse proxies, monitoring. */

const ADMINS = [FIRST_ADMIN];
const EVIL = { host: 'evil.example:18090', origin: 'http://evil.example:18090' };

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the route it calls.
  readonly body: any;
}

/** One request whose `Host` and other headers are the caller's choice, which `fetch` does not allow. */
async function send(
  url: string,
  method: string,
  route: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answer> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const options = { method, headers: { ...type, ...headers }, agent: false as const, ca: testCertificate.cert };
  const isSecure = url.startsWith('https:');
  return new Promise((resolve, reject) => {
    const call = (isSecure ? secureRequest : request)(new URL(route, url), options, (response) => {
      text(response).then((answer) => {
        const isJson = response.headers['content-type']?.includes('json');
        resolve({ status: response.statusCode, headers: response.headers, body: isJson ? JSON.parse(answer) : answer });
      }, reject);
    });
    call.once('error', reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const logIn = (url: string, headers: Record<string, string> = {}, password = ADMIN_PASSWORD) =>
  send(url, 'POST', '/api/v1/users/login', headers, { username: 'admin', password });

const outcome = ({ status, body }: Answer) => (status === 200 ? 200 : `${status} ${body.code}`);

describe('a page of another site whose name leads to the control plane', () => {
  test('reads no page, no metrics and no discovery, and cannot log in with any password', async () => {
    await using plane = await startHarness();
    for (const headers of [EVIL, { host: EVIL.host }, { host: 'localhost', origin: EVIL.origin }]) {
      expect(outcome(await logIn(plane.url, headers))).toBe('403 host_not_allowed');
      for (const route of ['/', '/app.js', '/metrics', '/api/v1/discovery', '/api/v1/openapi.json', '/nothing']) {
        const refused = await send(plane.url, 'GET', route, headers);
        expect([route, outcome(refused)]).toEqual([route, '403 host_not_allowed']);
      }
    }
    expect(outcome(await logIn(plane.url))).toBe(200);
  });

  test('is refused by /mcp in the form of MCP', async () => {
    await using plane = await startHarness();
    const refused = await send(plane.url, 'POST', '/mcp', { ...EVIL, authorization: 'Bearer x' }, {});
    expect([refused.status, refused.body]).toMatchObject([403, { jsonrpc: '2.0', error: { code: -32_000 } }]);
    expect(refused.body.error.message).toContain('add http://evil.example:18090 to app.publicUrls');
  });

  test('is let in once its address is one of app.publicUrls', async () => {
    const config = { app: { initAdmins: ADMINS, publicUrls: ['http://Evil.example:18090'] } };
    await using plane = await startHarness({ config });
    expect(outcome(await logIn(plane.url, EVIL))).toBe(200);
    expect((await send(plane.url, 'GET', '/', { host: EVIL.host })).status).toBe(200);
  });
});

test('join links and approval addresses name the first of app.publicUrls, not the loopback', async () => {
  const app = { initAdmins: ADMINS, publicUrls: ['https://vpn.example/', 'http://Evil.example:18090'] };
  await using plane = await startHarness({ config: { app } });
  const { token, workspace } = await webAndDatabase(plane);
  const session = { token, workspace };
  const made = await plane.api('POST', '/api/v1/token/generate', { ...session, body: { name: 'join', expiry: '' } });
  expect(new URL(made.body.joinLink).searchParams.get('server')).toBe('https://vpn.example');
  const intent = 'let the web servers reach the database on port 5432 and nobody else';
  const asked = { ...session, body: { workspace_id: workspace, intent, dry_run: false } };
  const { body: plan } = await plane.api('POST', '/api/v1/ai/intent/plan', asked);
  const applied = await plane.api('POST', '/api/v1/ai/intent/apply', {
    ...session,
    body: { plan_id: planIdOf(plan), approved_by: 'admin' },
  });
  expect(applied.body.approval_url).toBe(`https://vpn.example/#/workflows/${applied.body.workflow_id}`);
});

test('nodes and agents with a token are served under whatever name a proxy on this machine passes on', async () => {
  await using plane = await startHarness();
  const { token } = await plane.workspace();
  const headers = { host: 'vpn.example', authorization: `Bearer ${token}`, 'x-forwarded-for': '203.0.113.7' };
  expect((await send(plane.url, 'GET', '/api/v1/users/me', headers)).status).toBe(200);
});

test('load balancers may ask for health under any name', async () => {
  await using plane = await startHarness();
  for (const route of ['/healthz', '/readyz?verbose=1']) {
    expect([route, (await send(plane.url, 'GET', route, { host: 'backend' })).status]).toEqual([route, 200]);
  }
});

describe('the built-in password', () => {
  const names = { publicUrls: ['http://vpn.example'] };

  test('works under the names of the loopback', async () => {
    await using plane = await startHarness({ config: {} });
    for (const host of ['localhost:18090', '127.0.0.1:18090', '[::1]:18090']) {
      const headers = { host, origin: `http://${host}` };
      expect([host, outcome(await logIn(plane.url, headers, BUILT_IN_PASSWORD))]).toEqual([host, 200]);
    }
  });

  test.each([
    ['another name of the control plane', { host: 'vpn.example' }, {}],
    ['an address', { host: '10.0.0.5:18090' }, {}],
    ['a page of another port', { host: 'localhost:18090', origin: 'http://localhost:3000' }, {}],
    ['a proxy on this machine', { host: 'localhost:18090', 'x-forwarded-for': '127.0.0.1' }, {}],
    ['a trusted proxy for a local client', { 'x-forwarded-for': '127.0.0.1' }, { trustProxy: true }],
    ['a trusted proxy for a remote client', { 'x-forwarded-for': '203.0.113.7' }, { trustProxy: 1 }],
  ])('does not work through %s', async (_what, headers, trust) => {
    await using plane = await startHarness({ config: { app: { ...names, ...trust } } });
    expect(outcome(await logIn(plane.url, headers, BUILT_IN_PASSWORD))).toBe('403 forbidden');
  });

  test('works with its token alone where nobody can tell who calls, and the token is gone once it is spent', async () => {
    const directory = freshDirectory();
    const file = path.join(directory, FIRST_LOGIN_TOKEN_FILE);
    {
      await using plane = await startHarness({ config: {}, directory });
      const token = readFileSync(file, 'utf8').trim();
      const proxied = { 'x-forwarded-for': '203.0.113.7' };
      expect(outcome(await logIn(plane.url, proxied, token))).toBe(200);
      await loginWithOwn(plane.api, 'admin', token, 'chosen by the admin 7');
      expect(outcome(await logIn(plane.url, {}, token))).toBe('401 unauthenticated');
      await expect.poll(() => existsSync(file)).toBe(false);
    }
  });

  test('need not be typed: mesh login reads its token on this machine, where it is given no password', async () => {
    await using plane = await startHarness({ config: {} });
    const home = freshDirectory();
    const env = { MESH_SERVER: plane.url };
    const none = { code: 2, stdout: '', stderr: 'No password: set MESH_PASSWORD, or send it on standard input.\n' };
    expect(await mesh(['login'], { home, env })).toEqual(none);
    const here = { ...env, MESH_CONFIG_DIR: plane.directory };
    const signedIn = await mesh(['login'], { home, env: here });
    expect(signedIn).toMatchObject({ code: 0, stdout: expect.stringContaining('mesh passwd') });
    const token = readFileSync(path.join(plane.directory, FIRST_LOGIN_TOKEN_FILE), 'utf8').trim();
    expect(JSON.stringify(signedIn)).not.toContain(token);
    const stdin = `${BUILT_IN_PASSWORD}\nchosen by the admin 7\n`;
    expect(await mesh(['passwd'], { home, env: here, stdin })).toMatchObject({ code: 0 });
  });
});

describe('behind a reverse proxy', () => {
  const client = (address: string) => ({ 'x-forwarded-for': address });

  test('that is trusted, the wrong passwords of one client lock nobody else out', async () => {
    const config = { app: { initAdmins: ADMINS, trustProxy: ['loopback'] } };
    await using plane = await startHarness({ config });
    for (let guess = 0; guess < 35; guess++) await logIn(plane.url, client('203.0.113.7'), 'wrong');
    expect(outcome(await logIn(plane.url, client('203.0.113.7')))).toBe('429 rate_limited');
    expect(outcome(await logIn(plane.url, client('203.0.113.8')))).toBe(200);
  });

  test("that is trusted, the requests of one client use up nobody else's", async () => {
    const config = { app: { initAdmins: ADMINS, trustProxy: 1, rateLimit: 3 } };
    await using plane = await startHarness({ config });
    const ask = (address: string) => send(plane.url, 'GET', '/api/v1/discovery', client(address));
    for (let count = 0; count < 3; count++) await ask('203.0.113.7');
    const [first, second] = [await ask('203.0.113.7'), await ask('203.0.113.8')];
    expect([first.status, second.status]).toEqual([429, 200]);
  });

  test('that is not trusted, a client cannot escape its limit by what it says to have passed on', async () => {
    await using plane = await startHarness();
    for (let guess = 0; guess < 5; guess++) await logIn(plane.url, client(`203.0.113.${guess}`), 'wrong');
    expect(outcome(await logIn(plane.url, client('203.0.113.9')))).toBe('429 rate_limited');
  });

  test('whose address is not in the list, nothing that it says counts', async () => {
    const config = { app: { initAdmins: ADMINS, trustProxy: ['192.0.2.1', '2001:db8::/32'] } };
    await using plane = await startHarness({ config });
    for (let guess = 0; guess < 5; guess++) await logIn(plane.url, client(`203.0.113.${guess}`), 'wrong');
    expect(outcome(await logIn(plane.url, client('203.0.113.9')))).toBe('429 rate_limited');
  });
});

describe('Strict-Transport-Security', () => {
  const over = { 'x-forwarded-proto': 'https' };
  const sent = async (url: string, headers: Record<string, string> = {}) => {
    const routes = ['/', '/api/v1/discovery', '/api/v1/nothing', '/healthz'];
    const answers = await Promise.all(routes.map((route) => send(url, 'GET', route, headers)));
    return new Set(answers.map((answer) => answer.headers['strict-transport-security'] !== undefined));
  };

  test('is not sent in clear, whatever an untrusted caller says', async () => {
    await using plane = await startHarness();
    expect(await sent(plane.url)).toEqual(new Set([false]));
    expect(await sent(plane.url, over)).toEqual(new Set([false]));
  });

  test('is sent where a trusted proxy speaks TLS with the client', async () => {
    await using plane = await startHarness({ config: { app: { initAdmins: ADMINS, trustProxy: true } } });
    expect(await sent(plane.url)).toEqual(new Set([false]));
    expect(await sent(plane.url, over)).toEqual(new Set([true]));
  });

  test('is sent over TLS of its own', async () => {
    const directory = freshDirectory();
    const env = { MESH_TLS_CERT: path.join(directory, 'cert.pem'), MESH_TLS_KEY: path.join(directory, 'key.pem') };
    writeFileSync(env.MESH_TLS_CERT, testCertificate.cert);
    writeFileSync(env.MESH_TLS_KEY, testCertificate.key, { mode: 0o600 });
    await using plane = await startHarness({ env });
    expect(await sent(plane.url)).toEqual(new Set([true]));
  });
});

describe('/metrics', () => {
  const read = async (metrics: unknown, headers: Record<string, string> = {}) => {
    await using plane = await startHarness({ config: { app: { initAdmins: ADMINS, metrics } } });
    const { status } = await send(plane.url, 'GET', '/metrics', headers);
    return status;
  };

  test('is open, for this machine, for holders of a token, or closed', async () => {
    const proxied = { 'x-forwarded-for': '203.0.113.7' };
    const token = 'a token for prometheus';
    const bearer = { authorization: `Bearer ${token.replaceAll(' ', '-')}` };
    expect(await read('open', proxied)).toBe(200);
    expect([await read('local'), await read('local', proxied)]).toEqual([200, 403]);
    const closed = { token: token.replaceAll(' ', '-') };
    expect([await read(closed), await read(closed, bearer)]).toEqual([401, 200]);
    expect(await read(closed, { authorization: 'Bearer another-token-of-16' })).toBe(401);
    expect(await read('off')).toBe(404);
  });
});

describe('config.yaml', () => {
  test('with a password in it is narrowed to its owner, and the log says so', () => {
    const directory = freshDirectory();
    configure(directory);
    const file = path.join(directory, 'config.yaml');
    chmodSync(file, 0o644);
    const { notices } = loadConfig({}, directory);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    expect(notices).toEqual([`${file} holds a secret and has the mode 0644: narrowed to 0600`]);
    expect(loadConfig({}, directory).notices).toEqual([]);
  });

  test("with a password in it that is somebody else's file stays as it is, and the log says what to do", () => {
    const directory = freshDirectory();
    configure(directory);
    const file = path.join(directory, 'config.yaml');
    chmodSync(file, 0o640);
    const said = [`${file} holds a secret and has the mode 0640: others can read it. Run: chmod 600 ${file}`];
    expect([closeToOthers(file, -1), (statSync(file).mode & 0o777).toString(8)]).toEqual([said, '640']);
  });

  test('without a secret keeps its mode', () => {
    const directory = freshDirectory();
    configure(directory, { app: { rateLimit: 100 } });
    const file = path.join(directory, 'config.yaml');
    chmodSync(file, 0o644);
    expect([loadConfig({}, directory).notices, (statSync(file).mode & 0o777).toString(8)]).toEqual([[], '644']);
  });

  test.each([
    [{ publicUrls: ['vpn.example'] }, 'app.publicUrls.0: must be an address such as https://mesh.example.com'],
    [{ publicUrls: ['ftp://vpn.example'] }, 'app.publicUrls.0: must be an address'],
    [{ trustProxy: 'yes' }, 'app.trustProxy: must be true, a number of proxies, or a list'],
    [{ trustProxy: ['10.0.0.0/33'] }, 'app.trustProxy.0: must be an address or a network'],
    [{ trustProxy: ['proxy.example'] }, 'app.trustProxy.0: must be an address or a network'],
    [{ metrics: 'closed' }, 'app.metrics: must be open, local, off'],
    [{ metrics: { token: 'short' } }, 'app.metrics.token: must have at least 16 characters'],
    [
      { relays: ['lrps://relay.example:443', 'relay.example:443'].map((url, at) => ({ name: `r${at}`, url })) },
      'app.relays: must have an address each',
    ],
  ])('with %j is refused by name', (app, message) => {
    const directory = freshDirectory();
    configure(directory, { app });
    expect(() => loadConfig({}, directory)).toThrow(message);
  });
});
