import { readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { Store } from '../../core/base/ports.ts';
import { draftOf } from '../../core/base/record.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { openStore } from '../../storage/open.ts';
import { startCluster } from '../../test/kits/cluster.ts';
import { apiOf, freshWorkspace, startHarness } from '../../test/kits/http/harness.ts';
import { type Meshd, startMeshd } from '../../test/kits/process/meshd.ts';
import { startReplicaSet } from '../../test/kits/servers/replica-set.ts';
import { seedNetwork } from '../graph/network.ts';
import { median } from '../report.ts';

const ROUNDS = 5;
const WRITERS = 64;
const PAGE_BYTES = 4_096;
const WHY = { actor: 'user:bench', reason: 'bench', requestId: 'bench' } as const;

interface Started {
  /** From the spawn of `meshd` to /readyz, and to the first answer that needs the network, s. */
  readonly ready: number;
  readonly answered: number;
  readonly rss: number;
}

export interface ColdStart extends Started {
  readonly fileBytes: number;
}

interface Caller {
  readonly token: string;
  readonly workspace: string;
}

/** A control plane that starts on what is there: so many peers, and so many commits since the first. Medians. */
export async function measureColdStart(peers: number, commits: number): Promise<ColdStart> {
  const harness = await startHarness();
  const { directory } = harness;
  const as = await harness.workspace('bench', 1_000_000);
  await harness.stop();
  const file = path.join(directory, 'mesh.db');
  try {
    await fill(`sqlite:${file}`, as.workspace, peers, commits);
    const env = { MESH_LOG_LEVEL: 'error' };
    const started = await medianStart(() => start(async () => startMeshd({ directory, env }), as));
    return { ...started, fileBytes: statSync(file).size };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The same of one that has its records on a replica set of three. */
export async function measureColdStartOnMongo(peers: number, commits: number): Promise<Started> {
  const servers = await startReplicaSet();
  try {
    const cluster = await startCluster({ servers, planes: 1 });
    try {
      const as = await freshWorkspace(cluster.api, 'bench', 1_000_000);
      await fill(servers.url(cluster.database), as.workspace, peers, commits);
      const [plane] = cluster.planes;
      if (!plane) throw new Error('No control plane runs.');
      return await medianStart(async () => {
        await plane.stop();
        return start(() => plane.start().then(() => plane.meshd), as);
      });
    } finally {
      await cluster.stop();
    }
  } finally {
    await servers.stop();
  }
}

async function medianStart(begin: () => Promise<Started>): Promise<Started> {
  const rounds: Started[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await begin());
  const of = (key: keyof Started) => median(rounds.map((each) => each[key]));
  return { ready: of('ready'), answered: of('answered'), rss: of('rss') };
}

async function fill(url: string, workspace: string, peers: number, commits: number): Promise<void> {
  const store = await openStore(url, { clock: { now: () => Date.now() }, log: silentLog });
  await seedNetwork(store, workspace, peers, 0);
  await change(store, workspace, peers, commits);
  await store.close();
}

/** Each commit gives a peer another label. */
async function change(store: Store, workspace: string, peers: number, commits: number): Promise<void> {
  let made = 0;
  const lane = async (nth: number) => {
    for (let turn = 0; made < commits; turn += 1) {
      made += 1;
      const name = `peer-${1 + ((nth + turn * WRITERS) % (peers - WRITERS))}`;
      const record = await store.get(workspace, { kind: 'MeshPeer', name });
      if (!record) throw new Error(`There is no ${name}.`);
      const labels = { ...record.labels, turn: `${turn}` };
      const op = { op: 'update', record: { ...draftOf(record), labels }, revision: record.revision } as const;
      await store.commit(workspace, [op], WHY);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, nth) => lane(nth)));
}

/** @param begin starts it; resolves once it says where it answers */
async function start(begin: () => Promise<Meshd>, as: Caller): Promise<Started> {
  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1_000;
  const meshd = await begin();
  const api = apiOf(await meshd.ready());
  while ((await api('GET', '/readyz')).status !== 200) await after(5);
  const ready = seconds();
  const query = 'src=peer-51&dst=peer-52&protocol=TCP&port=5432';
  const { status, text } = await api('GET', `/api/v1/connectivity/check?${query}`, as);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  const answered = seconds();
  const rss = Number(readFileSync(`/proc/${meshd.child.pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
  await meshd.stop();
  return { ready, answered, rss };
}
