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
import { ADMIN_PASSWORD, startHarness } from '../kits/http/harness.ts';
import { isInstalled } from '../kits/process/needs.ts';

const PAGE = readFileSync(path.resolve(import.meta.dirname, '../../docs/reverse-proxy.md'), 'utf8');
const block = (language: string) => new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'm').exec(PAGE)?.[1] ?? '';

/** The documented server block on a socket of its own: ports, certificate and address of the plane differ, nothing else. */
async function startNginx(directory: string, planeUrl: string) {
  const socket = path.join(directory, 'https.sock');
  writeFileSync(path.join(directory, 'mesh.crt'), testCertificate.cert);
  writeFileSync(path.join(directory, 'mesh.key'), testCertificate.key);
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
  const child = spawn('nginx', ['-p', directory, '-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  let log = '';
  for await (const chunk of child.stderr.setEncoding('utf8')) {
    log += chunk;
    if (log.includes('start worker process ')) break;
  }
  if (!log.includes('start worker process ')) throw new Error(`nginx did not start: ${log}`);
  return {
    socket,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

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

test.skipIf(!isInstalled('nginx'))(
  'behind nginx as docs/reverse-proxy.md sets it up, people sign in over TLS, events arrive at once and MCP answers',
  async () => {
    const { app } = load(block('yaml')) as { app: object };
    await using harness = await startHarness({
      config: { app: { ...app, initAdmins: [{ username: 'admin', password: ADMIN_PASSWORD }] } },
    });
    const directory = mkdtempSync(path.join(tmpdir(), 'mesh-nginx-'));
    try {
      await using nginx = await startNginx(directory, harness.url);
      const at = (route: string, sent?: Sent) => send(nginx.socket, route, sent);
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
