import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeKeysFile } from '../../storage/credentials.ts';
import { startBalancer } from './balancer.ts';
import { type Api, apiOf, configure } from './http/harness.ts';
import { type Meshd, startMeshd } from './process/meshd.ts';
import { BIN, launcher } from './process/run-command.ts';
import { type Databases, drop } from './servers/replica-set.ts';

export interface ClusterOptions {
  readonly servers: Databases;
  /** Three unless set. */
  readonly planes?: number;
  /** For all of them. */
  readonly env?: Readonly<Record<string, string>>;
  /** For one of them, by its number from 0. */
  readonly envOf?: (nth: number) => Readonly<Record<string, string>>;
  /** Launchers of another checkout. */
  readonly bin?: string;
  /** Contents of config.yaml; an initial admin unless given. */
  readonly config?: unknown;
}

/** A control plane of several, in a process of its own. */
export interface ClusterPlane {
  /** Where it answers itself, not through the balancer. */
  readonly url: string;
  readonly api: Api;
  readonly meshd: Meshd;
  /** Ends it as SIGTERM does. @returns its exit code */
  stop(): Promise<number | null>;
  /** As of a kill -9. */
  kill(): Promise<void>;
  /** Has it begin with a new directory, as in a container, at its next start. */
  forget(): void;
  /** Has it be another version from its next start on: whose launchers are there. */
  upgrade(bin: string): void;
  /** Starts it again, behind the balancer too; with another config.yaml where it is given. */
  start(contents?: unknown): Promise<void>;
}

export interface Cluster {
  /** Of a balancer that gives each connection to the next; `api` has one for each request. */
  readonly url: string;
  readonly api: Api;
  readonly planes: readonly ClusterPlane[];
  readonly database: string;
  readonly keysFile: string;
  stop(): Promise<void>;
}

let made = 0;

/** Control planes that start at once on a new database of a replica set. */
export async function startCluster({
  servers,
  planes: count = 3,
  env,
  envOf,
  bin: firstBin = BIN,
  config,
}: ClusterOptions) {
  made += 1;
  const database = `cluster_${process.pid}_${made}`;
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-cluster-'));
  const keysFile = path.join(folder, 'keys.json');
  makeKeysFile(keysFile);
  const shared = { MESH_STORE_URL: servers.url(database), MESH_KEYS_FILE: keysFile };
  const off = { MESH_BUS_LISTEN: 'off', MESH_RELAY_LISTEN: 'off', MESH_STUN_LISTEN: 'off' };
  const balancer = await startBalancer();
  const running = new Map<number, string>();
  const balance = () => balancer.use([...running.values()]);
  const planes = Array.from({ length: count }, (_, nth) => planeOf(nth));

  function planeOf(nth: number): ClusterPlane & { begin(): void } {
    let directory = mkdtempSync(path.join(folder, `${nth}-`));
    let contents = config;
    let meshd: Meshd;
    let url = '';
    let bin = firstBin;
    const begin = () => {
      configure(directory, contents);
      meshd = startMeshd({
        directory,
        env: { ...off, ...shared, ...env, ...envOf?.(nth) },
        command: [launcher('meshd', bin)],
      });
    };
    const ready = async () => {
      url = await meshd.ready();
      running.set(nth, url);
      balance();
    };
    const end = async (signal: NodeJS.Signals) => {
      meshd.signal(signal);
      const code = await meshd.ended;
      running.delete(nth);
      balance();
      return code;
    };
    return {
      begin,
      get url() {
        return url;
      },
      get api() {
        return apiOf(url);
      },
      get meshd() {
        return meshd;
      },
      forget() {
        directory = mkdtempSync(path.join(folder, `${nth}-`));
      },
      upgrade(other) {
        bin = other;
      },
      stop: () => end('SIGTERM'),
      kill: async () => void (await end('SIGKILL')),
      async start(others = contents) {
        contents = others;
        if (!meshd || meshd.child.exitCode !== null || meshd.child.signalCode !== null) begin();
        await ready();
      },
    };
  }

  // Whatever happens to the process of the tests, none is left.
  const killAll = () => {
    for (const { meshd } of planes) meshd?.signal('SIGKILL');
  };
  process.once('exit', killAll);
  const stop = async () => {
    await Promise.all(planes.map((plane) => plane.stop()));
    process.off('exit', killAll);
    await balancer.stop();
    rmSync(folder, { recursive: true, force: true });
    await drop(servers.db(database));
  };
  for (const plane of planes) plane.begin();
  try {
    await Promise.all(planes.map((plane) => plane.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: balancer.url,
    api: apiOf(balancer.url, { isBalanced: true }),
    planes,
    database,
    keysFile,
    stop,
  } satisfies Cluster;
}
