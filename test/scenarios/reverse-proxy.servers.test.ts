import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { testCertificate } from '../../net/nats/test-certificate.ts';
import { ADMIN_PASSWORD, FIRST_ADMIN, startHarness } from '../kits/http/harness.ts';
import { isInstalled } from '../kits/process/needs.ts';

const PAGE = readFileSync(path.resolve(import.meta.dirname, '../../docs/reverse-proxy.md'), 'utf8');
const block = (language: string) => new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'm').exec(PAGE)?.[1] ?? '';

interface Proxy {
  /** Where it speaks TLS. */
  readonly socket: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a proxy and waits for what it says once it serves. */
async function startProxy(socket: string, [file, ...args]: [string, ...string[]], serves: string): Promise<Proxy> {
  const env = { PATH: process.env['PATH'], HOME: path.dirname(socket) };
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
  const ended = once(child, 'exit');
  let log = '';
  // A closed standard error ends a program of Go at its next line.
  for await (const chunk of child.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    log += chunk;
    if (log.includes(serves)) break;
  }
  if (!log.includes(serves)) throw new Error(`${file} did not start: ${log}`);
  child.stderr.resume();
  return {
    socket,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** The documented blocks on a socket each: ports, certificate and address of the plane differ, nothing else. */
const PROXIES: Readonly<Record<string, (directory: string, planeUrl: string) => Promise<Proxy>>> = {
  nginx(directory, planeUrl) {
    const socket = path.join(directory, 'https.sock');
    const server = block('nginx')
      .replace('listen 443 ssl', `listen unix:${socket} ssl`)
      .replaceAll('/etc/ssl/', `${directory}/`)
      .replace('http://127.0.0.1:18090', planeUrl);
    const file = path.join(directory, 'nginx.conf');
    writeFileSync(
      file,
      `daemon off; worker_processes 1; pid ${directory}/pid; error_log stderr notice; user root;
       events {} http { access_log off; client_body_temp_path ${directory}/b; proxy_temp_path ${directory}/p;
       fastcgi_temp_path ${directory}/f; uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s; ${server} }`,
    );
    return startProxy(socket, ['nginx', '-p', directory, '-c', file], 'start worker process ');
  },
  caddy(directory, planeUrl) {
    const socket = path.join(directory, 'https.sock');
    const own = `bind unix/${socket}\n  tls ${directory}/mesh.crt ${directory}/mesh.key`;
    const site = block('caddy')
      .replace('mesh.example.com {', `mesh.example.com, localhost {\n  ${own}`)
      .replace('127.0.0.1:18090', new URL(planeUrl).host);
    const file = path.join(directory, 'Caddyfile');
    writeFileSync(file, `{\n  admin off\n  grace_period 1s\n  auto_https disable_redirects\n}\n${site}`);
    return startProxy(
      socket,
      ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'],
      'serving initial configuration',
    );
  },
  haproxy(directory, planeUrl) {
    const socket = path.join(directory, 'https.sock');
    const file = path.join(directory, 'haproxy.cfg');
    writeFileSync(
      file,
      block('haproxy')
        .replace('bind :443', `bind unix@${socket}`)
        .replace('/etc/ssl/', `${directory}/`)
        .replace('127.0.0.1:18090', new URL(planeUrl).host),
    );
    return startProxy(socket, ['haproxy', '-W', '-f', file], 'Loading success');
  },
};

interface Sent {
  readonly method?: string;
  readonly token?: string;
  readonly workspace?: string;
  readonly body?: unknown;
}

/** A request to https://mesh.example.com, as the proxy gets it. */
async function send(socketPath: string, route: string, { method = 'GET', token, workspace, body }: Sent = {}) {
  const outgoing = request({
    socketPath,
    path: route,
    method,
    servername: 'localhost',
    ca: testCertificate.cert,
    headers: {
      host: 'mesh.example.com',
      origin: 'https://mesh.example.com',
      accept: 'application/json, text/event-stream',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
      ...(workspace && { 'x-workspace-id': workspace }),
    },
  });
  outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return response;
}

test.for(Object.entries(PROXIES))(
  'behind %s as docs/reverse-proxy.md sets it up, people sign in over TLS, events arrive at once and MCP answers',
  async ([program, startProgram], { skip }) => {
    if (!isInstalled(program)) skip();
    const { app } = load(block('yaml')) as { app: object };
    await using harness = await startHarness({
      config: { app: { ...app, initAdmins: [FIRST_ADMIN] } },
    });
    const directory = mkdtempSync(path.join(tmpdir(), 'mesh-proxy-'));
    try {
      writeFileSync(path.join(directory, 'mesh.crt'), testCertificate.cert);
      writeFileSync(path.join(directory, 'mesh.key'), testCertificate.key);
      writeFileSync(path.join(directory, 'mesh.pem'), `${testCertificate.cert}\n${testCertificate.key}`);
      await using proxy = await startProgram(directory, harness.url);
      const at = (route: string, sent?: Sent) => send(proxy.socket, route, sent);
      const login = await at('/api/v1/users/login', {
        method: 'POST',
        body: { username: 'admin', password: ADMIN_PASSWORD },
      });
      const token = JSON.parse(await text(login)).data.token as string;
      const named = { slug: 'prod', namespace: 'prod', displayName: 'Production', maxNodeCount: 10 };
      const added = await at('/api/v1/workspaces/add', { method: 'POST', token, body: named });
      const workspace = JSON.parse(await text(added)).data.id as string;

      const events = await at('/api/v1/events', { token, workspace });
      const policy = { name: 'base', spec: { action: 'DENY', peerSelector: {} } };
      const created = await at('/api/v1/policies', { method: 'POST', token, workspace, body: policy });
      expect(created.statusCode).toBe(201);
      created.resume();
      let seen = '';
      for await (const chunk of events.setEncoding('utf8')) {
        seen += chunk;
        if (seen.includes('"name":"base"')) break;
      }
      events.destroy();

      const call = {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
      };
      const answer = await at('/mcp', { method: 'POST', token, workspace, body: call });
      expect([answer.statusCode, await text(answer)]).toEqual([200, expect.stringContaining('"serverInfo"')]);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
);
