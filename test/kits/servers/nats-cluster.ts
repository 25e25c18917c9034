import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeBusConfig } from '../../../bin/compose/bus-config.ts';
import { bound, boundFolder } from '../process/bound.ts';
import { isInstalled } from '../process/needs.ts';
import { freePorts } from './free-port.ts';

const SERVER = 'nats-server';
export const hasNatsServer = isInstalled(SERVER);

/** The rules of the open bus, said to nats-server (docs/bus.md#open-servers): a user who is everybody, and the control plane. */
export const OPEN_RULES = `
authorization {
  users: [
    { user: "plane", password: "of a test" }
    { user: "any", password: "any", permissions: {
      publish: { deny: ["mesh.*.*.graph"] }, subscribe: { deny: ["mesh.control.>"] } } }
  ]
}
no_auth_user: "any"
`;

export interface NatsMember {
  readonly port: number;
  readonly pid: number;
  /** As of a kill -9. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** What it has logged. */
  log(): string;
}

export interface NatsCluster {
  readonly members: readonly NatsMember[];
  /** `127.0.0.1:port` of all. */
  readonly places: readonly string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** Whose servers let in registered nodes alone. */
export interface TokenCluster extends NatsCluster {
  readonly keysFile: string;
  /** What a control plane is told of it. */
  readonly env: { readonly [variable: string]: string };
}

interface ClusterOptions {
  readonly size?: number;
  /** Lines of the configuration of each, `folder` being its own. */
  readonly lines?: (folder: string) => string;
}

/** A bus whose servers let in registered nodes alone, in a folder with what `meshd bus-config` writes. */
export async function startTokenCluster(directory: string, more = ''): Promise<TokenCluster> {
  writeBusConfig({ directory, servers: ['127.0.0.1'], now: Date.now() });
  const accounts = readFileSync(path.join(directory, 'accounts.conf'), 'utf8');
  const resolver = (folder: string) => `resolver: { type: full, dir: "${folder}/accounts", interval: "1m" }`;
  const cluster = await startNatsCluster({ lines: (folder) => [more, resolver(folder), accounts].join('\n') });
  const keysFile = path.join(directory, 'mesh-bus.json');
  const env = {
    MESH_BUS_URL: cluster.places.map((place) => `nats://${place}`).join(','),
    MESH_SIGNALING_AUTH: 'token',
    MESH_BUS_KEYS_FILE: keysFile,
  };
  return { ...cluster, keysFile, env };
}

/** The same with a folder of its own, which goes with it. */
export async function startOwnTokenCluster(): Promise<TokenCluster> {
  const directory = boundFolder(tmpdir(), 'mesh-bus-');
  const cluster = await startTokenCluster(directory);
  return {
    ...cluster,
    async [Symbol.asyncDispose]() {
      await cluster[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Real servers with routes to each other on loopback, each with a folder of its own. */
export async function startNatsCluster({ size = 3, lines = () => '' }: ClusterOptions = {}): Promise<NatsCluster> {
  const folder = boundFolder(tmpdir(), 'mesh-nats-');
  const ports = await freePorts(size * 2);
  const routes = ports.slice(size).map((port) => `nats://127.0.0.1:${port}`);
  const members: NatsMember[] = [];
  const end = async () => {
    await Promise.all(members.map((member) => member.kill()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (let n = 0; n < size; n += 1) {
      const own = path.join(folder, `${n}`);
      mkdirSync(own);
      const cluster =
        size === 1
          ? ''
          : `cluster { name: mesh, listen: "127.0.0.1:${ports[size + n]}", routes: ${JSON.stringify(routes)} }`;
      const config = `server_name: n${n}\nlisten: "127.0.0.1:${ports[n]}"\n${cluster}\n${lines(own)}`;
      members.push(await startMember(own, ports[n] ?? 0, config));
    }
    await Promise.all(members.map(({ port }) => knowsOthers(port, size)));
  } catch (error) {
    const logs = members.map((member) => member.log()).join('\n');
    await end();
    throw new Error(`no cluster: ${String(error)}\n${logs}`, { cause: error });
  }
  return { members, places: members.map(({ port }) => `127.0.0.1:${port}`), [Symbol.asyncDispose]: end };
}

async function startMember(folder: string, port: number, config: string): Promise<NatsMember> {
  const [file, logFile] = [path.join(folder, 'nats.conf'), path.join(folder, 'log')];
  writeFileSync(file, config);
  let child: ChildProcess;
  const log = () => readFileSync(logFile, 'utf8');
  const start = async () => {
    child = spawn(...bound(SERVER, ['-c', file, '-l', logFile]), { stdio: 'ignore', cwd: folder });
    const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`ended with ${code}: ${log()}`)));
    ended.catch(() => undefined);
    await Promise.race([answers(port, child), ended]);
  };
  await start();
  return {
    port,
    get pid() {
      return child.pid ?? -1;
    },
    start,
    log,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function answers(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null && (await infoOf(port)) === undefined) await turn();
}

/** Resolves when a server tells its clients of all others. */
async function knowsOthers(port: number, size: number): Promise<void> {
  if (size === 1) return;
  for (;;) {
    const urls = (await infoOf(port))?.connect_urls ?? [];
    if (urls.length >= size) return;
    await turn();
  }
}

async function infoOf(port: number): Promise<{ readonly connect_urls?: readonly string[] } | undefined> {
  const socket = connect(port, '127.0.0.1');
  try {
    const [line] = (await once(socket, 'data')) as [Buffer];
    return JSON.parse(line.toString().replace(/^INFO /, ''));
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}
