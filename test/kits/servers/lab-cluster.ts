import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { writeBusConfig } from '../../../bin/compose/bus-config.ts';
import { makeKeysFile } from '../../../storage/credentials.ts';
import type { ClusterPlane } from '../cluster.ts';
import { apiOf, configure, FIRST_ADMIN, freshWorkspace } from '../http/harness.ts';
import { joinTokenFor } from '../http/joining.ts';
import { type LabHost, type LabSpec, type Natlab, natlab, PLANE_NAME } from '../lab/natlab.ts';
import { gateTo } from '../lab/natlab-gate.ts';
import { labParts } from '../lab/natlab-parts.ts';
import { isPrivileged } from '../lab/privileged.ts';
import { bound } from '../process/bound.ts';
import { startMeshd } from '../process/meshd.ts';
import { isInstalled } from '../process/needs.ts';
import { launcher } from '../process/run-command.ts';
import { DATABASE, startMembers, urlOf } from './lab-members.ts';
import { hasNatsServer } from './nats-cluster.ts';
import { hasMongod } from './replica-set.ts';

/** Whether there can be an installation whose parts, and nodes, have networks of their own. */
export const hasLabCluster = isPrivileged && hasMongod && hasNatsServer && isInstalled('ss');

const API_PORT = 18_090;
const BUS_PORT = 4_222;
const ROUTE_PORT = 6_222;
const COUNT = 3;
const NUMBERS = Array.from({ length: COUNT }, (_, nth) => nth);
const RELAY_TOKEN = 'relay token of the lab cluster';
const BALANCER = path.resolve(import.meta.dirname, '../balancer.ts');
const CONFIG = { app: { rateLimit: 1_000_000, initAdmins: [FIRST_ADMIN] } };

/** A control plane on a host of its own. */
export interface LabClusterPlane extends Pick<ClusterPlane, 'url' | 'api' | 'meshd' | 'kill' | 'start'> {
  readonly host: LabHost;
}

/** A server of the bus. */
export interface LabBusServer {
  /** `address:port`, as nodes and control planes reach it. */
  readonly place: string;
  /** As of a kill -9. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

/**
 * An installation as docs/deploy.md has it, in a lab: on the host `servers` a replica set of three and three servers of the
 * bus, which let in registered nodes alone; three control planes, each on a host of its own; and at the name of the control
 * plane a relay, a STUN server, and a balancer that gives each connection to the next of them.
 */
export async function startLabCluster(nodes: LabSpec) {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-lab-cluster-'));
  const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (let step = undo.pop(); step; step = undo.pop()) await step();
  };
  try {
    const own = Object.fromEntries(['servers', ...NUMBERS.map(nameOf)].map((name) => [name, {}]));
    const lab = await natlab({ ...nodes, hosts: { ...own, ...nodes.hosts } });
    undo.push(() => lab[Symbol.asyncDispose]());
    const servers = lab.host('servers');
    await labParts(lab.host('plane')).serveRelayAndStun(RELAY_TOKEN);
    const members = await startMembers(servers, folder, undo);
    const bus = await startBus(servers, folder);
    const keysFile = path.join(folder, 'keys.json');
    makeKeysFile(keysFile);
    const env = {
      MESH_LISTEN: `[::]:${API_PORT}`,
      MESH_RELAY_LISTEN: 'off',
      MESH_STUN_LISTEN: 'off',
      MESH_STORE_URL: urlOf(members),
      MESH_KEYS_FILE: keysFile,
      MESH_BUS_URL: bus.servers.map(({ place }) => `nats://${place}`).join(','),
      MESH_SIGNALING_AUTH: 'token',
      MESH_BUS_KEYS_FILE: bus.keysFile,
      MESH_LRP_AUTH_TOKEN: RELAY_TOKEN,
      MESH_RELAY_URL: `${PLANE_NAME}:6266`,
      MESH_STUN_URL: `${PLANE_NAME}:3478`,
    };
    const planes = await Promise.all(NUMBERS.map((nth) => startPlane(lab.host(nameOf(nth)), { folder, env, undo })));
    const url = await startBalancerFor(lab, planes, undo);
    const api = apiOf(url, { isBalanced: true });
    const admin = await freshWorkspace(api, 'lab');
    return {
      lab,
      planes,
      bus: bus.servers,
      url,
      api,
      admin,
      workspace: admin.workspace,
      database: DATABASE,
      /** Of the member that takes writes. */
      db: (name: string) => members[0].client.db(name),
      joinToken: () => joinTokenFor({ api }, admin),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

export type LabCluster = Awaited<ReturnType<typeof startLabCluster>>;

function nameOf(nth: number): string {
  return `meshd${nth}`;
}

async function startBus(host: LabHost, folder: string) {
  const directory = path.join(folder, 'bus');
  writeBusConfig({ directory, servers: [host.address ?? ''], now: Date.now() });
  const accounts = readFileSync(path.join(directory, 'accounts.conf'), 'utf8');
  const routes = NUMBERS.map((nth) => `nats://127.0.0.1:${ROUTE_PORT + nth}`);
  const servers = NUMBERS.map((nth): LabBusServer => {
    const own = path.join(directory, `${nth}`);
    mkdirSync(own);
    const place = `${host.address}:${BUS_PORT + nth}`;
    const lines = [
      `server_name: n${nth}`,
      `listen: "0.0.0.0:${BUS_PORT + nth}"`,
      `client_advertise: "${place}"`,
      `cluster { name: mesh, listen: "127.0.0.1:${ROUTE_PORT + nth}", routes: ${JSON.stringify(routes)} }`,
      `resolver: { type: full, dir: "${own}/accounts", interval: "1m" }`,
      accounts,
    ];
    writeFileSync(path.join(own, 'nats.conf'), lines.join('\n'));
    const log = path.join(own, 'log');
    let child: ReturnType<LabHost['spawn']> | undefined;
    return {
      place,
      async start() {
        rmSync(log, { force: true });
        child = host.spawn(...bound('nats-server', ['-c', path.join(own, 'nats.conf'), '-l', log]));
        await vi.waitFor(() => expect(readFileSync(log, 'utf8')).toContain('Server is ready'), { timeout: 20_000 });
      },
      async kill() {
        const ended = new Promise((resolve) => child?.once('exit', resolve));
        child?.kill('SIGKILL');
        await ended;
      },
    };
  });
  await Promise.all(servers.map((server) => server.start()));
  return { servers, keysFile: path.join(directory, 'mesh-bus.json') };
}

interface PlaneOptions {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly undo: (() => unknown)[];
}

async function startPlane(host: LabHost, { folder, env, undo }: PlaneOptions): Promise<LabClusterPlane> {
  const directory = mkdtempSync(path.join(folder, 'plane-'));
  configure(directory, CONFIG);
  const command = ['ip', 'netns', 'exec', host.namespace, launcher('meshd')] as const;
  const begin = () => startMeshd({ directory, env: { MESH_BUS_LISTEN: 'off', ...env }, command });
  let meshd = begin();
  undo.push(() => meshd.stop());
  await meshd.ready();
  const gate = await gateTo(host, API_PORT);
  undo.push(gate.close);
  const url = `http://127.0.0.1:${gate.port}`;
  return {
    host,
    url,
    api: apiOf(url),
    get meshd() {
      return meshd;
    },
    async kill() {
      meshd.signal('SIGKILL');
      await meshd.ended;
    },
    async start() {
      meshd = begin();
      await meshd.ready();
    },
  };
}

/** @returns where the test reaches it */
async function startBalancerFor(lab: Natlab, planes: readonly LabClusterPlane[], undo: (() => unknown)[]) {
  const host = lab.host('plane');
  const targets = planes.map((plane) => `http://${plane.host.address}:${API_PORT}`);
  const balancer = host.spawn(process.execPath, [BALANCER, `${API_PORT}`, ...targets]);
  await new Promise((resolve) => balancer.stdout?.once('data', resolve));
  const gate = await gateTo(host, API_PORT);
  undo.push(gate.close);
  return `http://127.0.0.1:${gate.port}`;
}
