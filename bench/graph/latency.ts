import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import { openStore } from '../../storage/open.ts';
import { FIRST_ADMIN, startHarness } from '../../test/kits/http/harness.ts';
import { type Meshd, startMeshd } from '../../test/kits/process/meshd.ts';
import { CHANGES, type ChangeKind } from './changes.ts';
import { GROUP, gatewayPolicy, groupPolicy, type Live, seedNetwork } from './network.ts';
import { startNodes } from './nodes.ts';

/** What a change took from its answer to the decrypted graph in each neighbour's hands, ms; one list for each kind. */
export interface Latencies {
  readonly samples: Readonly<Record<ChangeKind | 'burst', readonly number[]>>;
  /** Of the control plane with all nodes subscribed, bytes. */
  readonly rss: number;
}

/** After this long without another graph a change has reached everybody. */
const QUIET_MS = 250;
const PAGE_BYTES = 4_096;
const quiet = { error: console.error, warn() {}, info() {}, debug() {} };

/** A `meshd` of its own process with `size` registered peers, of which the first `live` are nodes on its bus. */
export async function measureLatency(size: number, live: number, rounds: number): Promise<Latencies> {
  const app = { rateLimit: 1_000_000, initAdmins: [FIRST_ADMIN] };
  const harness = await startHarness({ config: { app } });
  const { token, workspace } = await harness.workspace('bench', 1_000_000);
  const { controlKey } = harness.plane.services.keys;
  await harness.stop();
  const store = await openStore(`${harness.directory}/mesh.db`, { clock: { now: Date.now }, log: quiet });
  const lives = await seedNetwork(store, workspace, size, live);
  await store.close();

  const meshd = startMeshd({
    directory: harness.directory,
    env: { MESH_EDITION: 'community', MESH_LOG_LEVEL: 'error', MESH_RELAY_LISTEN: 'off', MESH_STUN_LISTEN: 'off' },
  });
  try {
    return await measureOn(meshd, { workspace, token, controlKey, lives, rounds });
  } finally {
    await meshd.stop();
    rmSync(harness.directory, { recursive: true, force: true });
  }
}

interface Setting {
  readonly workspace: string;
  readonly token: string;
  readonly controlKey: Uint8Array;
  readonly lives: readonly Live[];
  readonly rounds: number;
}

async function measureOn(meshd: Meshd, { workspace, token, controlKey, lives, rounds }: Setting): Promise<Latencies> {
  const url = await meshd.ready();
  const busPort = Number(/Bus +\S+:(\d+)/.exec(meshd.stdout())?.[1]);
  const nodes = await startNodes(busPort, workspace, controlKey, lives);
  await after(2_000);

  async function call(
    method: string,
    route: string,
    body?: object,
    bearer: string = token,
  ): Promise<{ readonly token?: string }> {
    const response = await fetch(new URL(route, url), {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'x-workspace-id': workspace, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  }

  const label = (n: number, to: number) => call('PATCH', `/api/v1/peers/peer-${n}`, { labels: { app: `g${to}` } });
  const groups = Math.floor(lives.length / GROUP);
  const changes: Record<ChangeKind | 'burst', (round: number) => Promise<() => Promise<unknown>>> = {
    async label(round) {
      const group = 1 + (round % (groups - 2));
      return () => label(group * GROUP + 7, group + 1);
    },
    async 'leave and join'(round) {
      const labels = { app: `g${1 + (round % (groups - 2))}` };
      const { token: joinToken } = await call('POST', '/api/v1/token/generate', { name: `join-${round}`, labels });
      const publicKey = Buffer.from(generateKeyPair().publicKey).toString('base64');
      const device = { token: joinToken, name: `joined-${round}`, publicKey };
      return () => call('POST', '/api/v1/devices/register', device, joinToken);
    },
    async policy(round) {
      const group = 1 + (round % (groups - 2));
      return () => call('PUT', `/api/v1/policies/g${group}`, { spec: groupPolicy(group, 2_000 + round) });
    },
    // A policy that names what no other does, and so divides all peers anew.
    async burst(round) {
      if (round % 2 === 1) return () => call('DELETE', '/api/v1/policies/gateway');
      return () => call('POST', '/api/v1/policies', { name: 'gateway', spec: gatewayPolicy(groups) });
    },
  };
  const samples: Record<ChangeKind | 'burst', number[]> = { label: [], 'leave and join': [], policy: [], burst: [] };
  for (const kind of [...CHANGES, 'burst'] as const) {
    for (let round = 0; round < rounds; round++) {
      const make = await changes[kind](round);
      await nodes.settled(QUIET_MS);
      await make();
      const acknowledged = performance.now();
      const arrivals = await nodes.settled(QUIET_MS);
      for (const { at } of arrivals) samples[kind].push(at - acknowledged);
    }
  }
  const rss = Number(readFileSync(`/proc/${meshd.child.pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
  await nodes.close();
  return { samples, rss };
}
