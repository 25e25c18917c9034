import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MongoClient } from 'mongodb';
import { makeKeysFile } from '../../../storage/credentials.ts';
import { type Api, apiOf, configure } from '../http/harness.ts';
import { type LabHost, type Natlab, natlab } from '../lab/natlab.ts';
import { openGate } from '../lab/natlab-gate.ts';
import { bound } from '../process/bound.ts';
import { type Meshd, startMeshd } from '../process/meshd.ts';
import { isInstalled } from '../process/needs.ts';
import { launcher } from '../process/run-command.ts';
import { hasMongod, MONGOD } from './replica-set.ts';

/** Whether there can be hosts with networks of their own. */
export const canSplit = hasMongod && process.getuid?.() === 0 && ['ip', 'nft'].every(isInstalled);

const GATE = path.resolve(import.meta.dirname, '../lab/natlab-gate.ts');
const DATABASE = 'mesh';
const STORE_PORT = 27_017;
const API_PORT = 8_090;

/** A machine with a member of the replica set and a control plane, reached by the test whatever is cut. */
export interface SplitHost {
  readonly api: Api;
  readonly url: string;
  readonly meshd: Meshd;
  /** Of its own member alone. */
  readonly storeUrl: string;
  /** Whether its member takes writes, as it says itself. */
  isPrimary(): Promise<boolean>;
  /** What comes from the other machines, and goes to them, is lost. */
  cut(): Promise<void>;
  heal(): Promise<void>;
}

/** Three machines, each a network namespace, with one installation on them. */
export async function startSplitHosts(config: unknown) {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-split-'));
  const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (let step = undo.pop(); step; step = undo.pop()) await step();
  };
  try {
    const names = ['a', 'b', 'c'];
    const lab = await natlab({ hosts: Object.fromEntries(names.map((name) => [name, { family: 'ipv4' as const }])) });
    undo.push(() => lab[Symbol.asyncDispose]());
    const machines = await Promise.all(names.map((name) => startMember(lab, name, folder, undo)));
    const members = machines.map(({ host: { address } }, _id) => ({ _id, host: `${address}:${STORE_PORT}` }));
    const [first] = machines;
    await first?.client.db('admin').command({
      replSetInitiate: {
        _id: 'rs0',
        members,
        settings: { electionTimeoutMillis: 2_000, heartbeatIntervalMillis: 500 },
      },
    });
    const keysFile = path.join(folder, 'keys.json');
    makeKeysFile(keysFile);
    const storeUrl = `mongodb://${members.map(({ host }) => host).join(',')}/${DATABASE}?replicaSet=rs0`;
    const env = { MESH_STORE_URL: storeUrl, MESH_KEYS_FILE: keysFile };
    const hosts = await Promise.all(machines.map((machine) => startPlane(machine, { folder, env, config, undo })));
    return { hosts, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Machine {
  readonly host: LabHost;
  readonly client: MongoClient;
  readonly storeUrl: string;
}

async function startMember(lab: Natlab, name: string, folder: string, undo: (() => unknown)[]): Promise<Machine> {
  const host = lab.host(name);
  const data = mkdtempSync(path.join(folder, 'data-'));
  const network = ['--bind_ip', '0.0.0.0', '--port', `${STORE_PORT}`, '--nounixsocket', '--quiet'];
  host
    .spawn(...bound(MONGOD, [...network, '--dbpath', data, '--replSet', 'rs0', '--wiredTigerCacheSizeGB', '0.25']))
    .stdout?.resume();
  const port = await gateTo(host, STORE_PORT, folder, undo);
  const storeUrl = `mongodb://127.0.0.1:${port}/${DATABASE}?directConnection=true`;
  const client = new MongoClient(storeUrl);
  undo.push(() => client.close());
  await client.db('admin').command({ ping: 1 });
  return { host, client, storeUrl };
}

interface PlaneOptions {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly config: unknown;
  readonly undo: (() => unknown)[];
}

async function startPlane({ host, client, storeUrl }: Machine, options: PlaneOptions): Promise<SplitHost> {
  const { folder, env, config, undo } = options;
  const directory = mkdtempSync(path.join(folder, 'plane-'));
  configure(directory, config);
  const off = { MESH_BUS_LISTEN: 'off', MESH_RELAY_LISTEN: 'off', MESH_STUN_LISTEN: 'off' };
  const meshd = startMeshd({
    directory,
    env: { ...off, ...env, MESH_LISTEN: `127.0.0.1:${API_PORT}` },
    command: ['ip', 'netns', 'exec', host.namespace, launcher('meshd')],
  });
  undo.push(() => meshd.stop());
  await meshd.ready();
  const url = `http://127.0.0.1:${await gateTo(host, API_PORT, folder, undo)}`;
  return {
    url,
    api: apiOf(url),
    meshd,
    storeUrl,
    isPrimary: async () => (await client.db('admin').command({ hello: 1 }))['isWritablePrimary'] === true,
    cut: () => host.block('meta l4proto tcp'),
    heal: () => host.unblock(),
  };
}

/** @returns a port of this machine that leads to one of a host */
async function gateTo(host: LabHost, port: number, folder: string, undo: (() => unknown)[]): Promise<number> {
  const socket = path.join(folder, `${host.name}-${port}.sock`);
  const inside = host.spawn(process.execPath, [GATE, socket, `${port}`]);
  await new Promise((resolve) => inside.stdout?.once('data', resolve));
  const gate = await openGate({ host: '127.0.0.1', port: 0 }, { path: socket });
  undo.push(() => gate.server.close());
  return gate.port;
}
