import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import type { FullGraph } from '../../core/model/graph.ts';
import { type Api, apiOf, FIRST_ADMIN, startHarness } from '../../test/kits/http/harness.ts';
import { startMeshd } from '../../test/kits/process/meshd.ts';
import { heldBy, nodesOf, type Received, type StormNode } from './nodes.ts';

export interface Storm {
  /** Until the last device was registered, and until every node held the graph that is in force, ms. */
  readonly registered: number;
  readonly settled: number;
  readonly register: readonly number[];
  readonly healthz: readonly number[];
  readonly cpuS: number;
  readonly full: number;
  readonly delta: number;
  readonly bytes: number;
  readonly rss: number;
}

/** Devices that register at the same time, as a fleet does that is rolled out. */
const AT_ONCE = 32;
const QUIET_MS = 1_500;
/** Nodes whose graph is compared with the one that the API gives. */
const COMPARED = 20;
const PAGE_BYTES = 4_096;
const TICKS_A_SECOND = 100;

/** The network after a storm, as long as it is up. */
export interface LiveStorm extends Storm {
  readonly api: Api;
  readonly as: { readonly token: string; readonly workspace: string };
  /** What its nodes are sent. */
  readonly received: Readonly<Received>;
  /** Of `meshd` so far. */
  readonly cpuSeconds: () => number;
  /** Resolves once nothing was sent for a while from now on. */
  readonly quiet: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A `meshd` of its own process in which so many devices join, each next to the others of its group. */
export async function measureStorm(devices: number, group: number): Promise<Storm> {
  const storm = await beginStorm(devices, group);
  await storm.close();
  return storm;
}

/** The same, and it stays up. */
export async function beginStorm(devices: number, group: number): Promise<LiveStorm> {
  const app = { rateLimit: 10_000_000, initAdmins: [FIRST_ADMIN] };
  const harness = await startHarness({ config: { app } });
  const { token: session, workspace } = await harness.workspace('bench', 1_000_000);
  const control = harness.plane.services.keys.controlKey;
  const as = { token: session, workspace };
  const tokens: string[] = [];
  for (let nth = 0; nth * group < devices; nth += 1) {
    const labels = { app: `g${nth}` };
    const { body } = await harness.api('POST', '/api/v1/token/generate', {
      ...as,
      body: { name: `join-${nth}`, labels, usageLimit: group },
    });
    if (body.token === undefined) throw new Error(JSON.stringify(body));
    tokens.push(body.token);
    if (group < devices) await harness.api('POST', '/api/v1/policies', { ...as, body: groupPolicy(nth) });
  }
  await harness.stop();
  const meshd = startMeshd({
    directory: harness.directory,
    env: { MESH_EDITION: 'community', MESH_LOG_LEVEL: 'error', MESH_RELAY_LISTEN: 'off', MESH_STUN_LISTEN: 'off' },
  });
  const end = async () => {
    await meshd.stop();
    rmSync(harness.directory, { recursive: true, force: true });
  };
  try {
    const url = await meshd.ready();
    const busPort = Number(/Bus +\S+:(\d+)/.exec(meshd.stdout())?.[1]);
    const prober = fork(new URL('./healthz.ts', import.meta.url), [url]);
    await once(prober, 'message');
    const { received, join, close } = nodesOf({ url, busPort, workspace, control });
    const start = performance.now();
    const spent = () => cpuSeconds(meshd.child.pid);
    const cpu = spent();
    const quiet = async () => {
      const begun = performance.now();
      while (performance.now() - Math.max(begun, received.lastAt) < QUIET_MS) await after(50);
    };
    const kept: StormNode[] = [];
    const everyNth = Math.ceil(devices / COMPARED);
    const register: number[] = [];
    let registered = 0;
    let next = 0;
    const lane = async () => {
      while (next < devices) {
        const nth = next++;
        const { node, ms } = await join(tokens[Math.floor(nth / group)] ?? '', `device-${nth}`, nth % everyNth === 0);
        registered = performance.now() - start;
        if (nth % everyNth === 0) kept.push(node);
        register.push(ms);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    await quiet();
    const settled = received.lastAt - start;
    const cpuS = spent() - cpu;
    const took = once(prober, 'message');
    prober.send('end');
    const [healthz] = await took;
    const rss = Number(readFileSync(`/proc/${meshd.child.pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
    await compare(url, kept);
    const figures = { registered, settled, register, healthz, cpuS, ...received, rss };
    return {
      ...figures,
      api: apiOf(url),
      as,
      received,
      cpuSeconds: spent,
      quiet,
      async close() {
        await close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

function groupPolicy(nth: number) {
  const peerSelector = { matchLabels: { app: `g${nth}` } };
  const spec = {
    action: 'ALLOW',
    peerSelector,
    ingress: [{ from: [{ peerSelector }] }],
    egress: [{ to: [{ peerSelector }] }],
  };
  return { name: `g${nth}`, spec };
}

/** @throws Error where a node does not hold what the API says is in force */
async function compare(url: string, nodes: readonly StormNode[]): Promise<void> {
  for (const node of nodes) {
    const graph = heldBy(node);
    const response = await fetch(new URL('/api/v1/devices/self/graph', url), {
      headers: { authorization: `Bearer ${node.deviceToken}` },
    });
    const now = (await response.json()) as FullGraph;
    if (contentsOf(now) !== contentsOf(graph)) {
      const [held, told] = [graph?.peers.length, now.peers.length];
      throw new Error(`A node holds another graph: ${held} peers at ${graph?.version} for ${told} at ${now.version}.`);
    }
  }
}

function contentsOf(graph: FullGraph | undefined): string {
  return JSON.stringify([graph?.self, graph?.peers, graph?.firewall.digest]);
}

function cpuSeconds(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}
