import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeKeysFile } from '../../../storage/credentials.ts';
import { type Api, apiOf, configure } from '../http/harness.ts';
import { natlab } from '../lab/natlab.ts';
import { gateTo } from '../lab/natlab-gate.ts';
import { type Meshd, startMeshd } from '../process/meshd.ts';
import { isInstalled } from '../process/needs.ts';
import { launcher } from '../process/run-command.ts';
import { initiate, type LabMember, startMember, urlOf } from './lab-members.ts';
import { hasMongod } from './replica-set.ts';

/** Whether there can be hosts with networks of their own. */
export const canSplit = hasMongod && process.getuid?.() === 0 && ['ip', 'nft'].every(isInstalled);

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
    const machines = await Promise.all(names.map((name) => startMember(lab.host(name), folder, undo)));
    await initiate(machines);
    const keysFile = path.join(folder, 'keys.json');
    makeKeysFile(keysFile);
    const storeUrl = urlOf(machines);
    const env = { MESH_STORE_URL: storeUrl, MESH_KEYS_FILE: keysFile };
    const hosts = await Promise.all(machines.map((machine) => startPlane(machine, { folder, env, config, undo })));
    return { hosts, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface PlaneOptions {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly config: unknown;
  readonly undo: (() => unknown)[];
}

async function startPlane({ host, client, storeUrl }: LabMember, options: PlaneOptions): Promise<SplitHost> {
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
  const gate = await gateTo(host, API_PORT);
  undo.push(gate.close);
  const url = `http://127.0.0.1:${gate.port}`;
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
