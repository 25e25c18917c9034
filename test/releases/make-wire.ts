import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createListener } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { connect } from '@nats-io/transport-node';
import { silentLog } from '../../core/base/silent-log.ts';
import { apiOf, configure, freshWorkspace } from '../kits/http/harness.ts';
import { joinTokenFor } from '../kits/http/joining.ts';
import { enrol } from '../kits/plane/devices.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import {
  loadNode,
  type ReleasedNode,
  type SaidOverHttp,
  type SaidOverTheBus,
  type WireRecord,
} from './wire-fixture.ts';

/** The whole one, a delta for each of three changes, and that it is revoked. */
const GRAPHS = 5;
const SHUT = { action: 'DENY', peerSelector: {}, ingress: [{}] };

/**
 * Makes, in `target`, `node.mjs.gz`, the release's half of the wire of a node in one file, and `wire.json.gz`, what its
 * node and its control plane said to each other.
 */
export async function makeWire(checkout: string, version: string, target: string): Promise<void> {
  bundleNode(checkout, target);
  const record = await recordWire(await loadNode(version), checkout, version);
  writeFileSync(path.join(target, 'wire.json.gz'), gzipSync(JSON.stringify(record), { level: 9 }));
}

function bundleNode(checkout: string, target: string): void {
  const directory = freshDirectory();
  const entry = path.join(directory, 'entry.ts');
  const bundle = path.join(directory, 'node.mjs');
  const from = (file: string) => JSON.stringify(path.join(checkout, file));
  writeFileSync(
    entry,
    `export { enrol } from ${from('client/enrol/enrol.ts')};
export { ControlLink } from ${from('client/control/control-link.ts')};
export { SignalExchange } from ${from('net/signal/exchange.ts')};
export { Opener } from ${from('net/seal/opener.ts')};
export { Sealer } from ${from('net/seal/sealer.ts')};
`,
  );
  const options = ['--format', 'esm', '--platform', 'node', '--external', '@nats-io/transport-node', '--file', bundle];
  execFileSync(path.join(import.meta.dirname, '../../node_modules/.bin/rolldown'), [entry, ...options]);
  // Without the paths of this machine.
  const code = readFileSync(bundle, 'utf8').replaceAll(/^\/\/.*\n/gm, '');
  writeFileSync(path.join(target, 'node.mjs.gz'), gzipSync(code, { level: 9 }));
  rmSync(directory, { recursive: true });
}

/** A node of the release on a control plane of it: joins, sees another come, a policy and the other go, and is revoked. */
async function recordWire(
  { enrol: enrolNode, ControlLink }: ReleasedNode,
  checkout: string,
  version: string,
): Promise<WireRecord> {
  const directory = freshDirectory();
  configure(directory);
  const bus = `127.0.0.1:${await freePort()}`;
  const env = { MESH_BUS_LISTEN: bus, MESH_SIGNALING_URL: `nats://${bus}` };
  const meshd = startMeshd({ directory, env, command: [path.join(checkout, 'bin/meshd'), '--standalone'] });
  const http: SaidOverHttp[] = [];
  const said: SaidOverTheBus[] = [];
  try {
    const url = await meshd.ready();
    const api = apiOf(url);
    const admin = await freshWorkspace(api);
    const listener = await connect({ servers: bus });
    listener.subscribe('>', {
      callback: (_error, { subject, reply, data }) => {
        said.push({ subject, ...(reply && { reply }), data: Buffer.from(data).toString('base64') });
      },
    });
    await listener.flush();
    const proxy = await recordingProxy(url, http);
    const { config } = await enrolNode({
      server: proxy.url,
      token: await joinTokenFor({ api }, admin),
      directory: path.join(directory, 'node'),
      name: 'db-1',
      hostname: 'db-1.example.net',
      platform: 'linux',
      version,
      force: false,
    });
    const seen: string[] = [];
    const link = new ControlLink({
      config,
      version,
      file: { read: () => undefined, write: () => {}, forget: () => {} },
      logFile: { read: () => undefined, write: () => {} },
      busWaitMs: 2_000,
      clock: { now: Date.now },
      log: silentLog,
      saveConfig: () => {},
      onGraph: ({ peers, firewall }) => seen.push(`${peers.length} peers, ${firewall.full.in.length} rules`),
      onStanding: (standing) => seen.push(standing),
      onSignal: () => {},
      onBus: () => {},
    });
    const until = async (what: string, isSo: () => boolean) => {
      const deadline = Date.now() + 20_000;
      while (!isSo()) {
        if (Date.now() > deadline) throw new Error(`not so: ${what}; it saw ${seen.join(', ')}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const own = (method: string, what: string, body?: object) =>
      apiOf(proxy.url)(method, `/api/v1/devices/self${what}`, { token: config.deviceToken, ...(body && { body }) });
    await link.start();
    const answers = () => said.filter(({ subject }) => subject.startsWith('_INBOX.')).length;
    await until('it was challenged, and then answered', () => answers() === 2);
    await until('it has its first graph', () => said.some(({ subject }) => subject.endsWith('.graph')));
    await enrol({ api }, await joinTokenFor({ api }, admin), 'web-1');
    await until('it has a peer', () => seen.at(-1)?.startsWith('1 peers') === true);
    await api('POST', '/api/v1/policies', { ...admin, body: { name: 'shut', spec: SHUT } });
    await until('it has none', () => seen.at(-1)?.startsWith('0 peers') === true);
    await api('DELETE', '/api/v1/policies/shut', admin);
    await until('it has it again', () => seen.at(-1)?.startsWith('1 peers') === true);
    const paths = [
      { peer: 'p_x', transport: 'lrp-ready', path: 'relayed', reason: 'checking', since: new Date().toISOString() },
    ];
    await own('POST', '/heartbeat', { paths });
    await api('POST', '/api/v1/peers/db-1/revoke', { ...admin, body: {} });
    await until('it is revoked', () => seen.at(-1) === 'revoked');
    await link.stop();
    await proxy.close();
    await listener.close();
    const { id, workspaceId, controlKey, privateKey } = config;
    const graphs = said.filter(({ subject }) => subject === `mesh.${workspaceId}.${id}.graph`).length;
    // Two changes that come together are one delta, which the test of this record does not expect.
    if (graphs !== GRAPHS) throw new Error(`It was sent ${graphs} graphs instead of ${GRAPHS}: make the record again.`);
    return { node: { id, workspaceId, controlKey, privateKey }, http, bus: said };
  } finally {
    await meshd.stop();
  }
}

/** Passes on what a node asks of the API, and keeps it. */
async function recordingProxy(plane: string, kept: SaidOverHttp[]) {
  const server = createServer((request, response) => void pass(request, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request;
    const sent = await text(request);
    const { authorization, 'content-type': type } = headers;
    const answer = await fetch(new URL(url, plane), {
      method,
      headers: { ...(authorization && { authorization }), ...(type && { 'content-type': type }) },
      ...(sent !== '' && { body: sent }),
    });
    const body = (await answer.json()) as SaidOverHttp['answer'];
    kept.push({
      call: `${method} ${url}`,
      ...(sent !== '' && { sent: JSON.parse(sent) }),
      status: answer.status,
      answer: body,
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

async function freePort(): Promise<number> {
  const server = createListener().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
