import { cpus } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Store } from '../core/base/ports.ts';
import { silentLog } from '../core/base/silent-log.ts';
import { openStore } from '../storage/open.ts';
import { startReplicaSet } from '../test/kits/servers/replica-set.ts';
import { draft } from './draft.ts';

/**
 * What a call waits until its control plane knows all that others acknowledged, beside one read by the driver that a deposed
 * primary could answer too. By turns, on a replica set of three that this starts (test/mongod.sh brings it).
 */
const ROUNDS = 30;
const EACH = 10;
const CALLERS = 64;
const WARM_UP = 3;
const WORKSPACES = 8;

const servers = await startReplicaSet();
const open = () => openStore(servers.url('bench'), { clock: { now: () => Date.now() }, log: silentLog });
const [here, elsewhere] = [await open(), await open()];
const heads = servers.db('bench').collection<{ _id: string }>('workspace', { readConcern: { level: 'majority' } });
const ways: Readonly<Record<string, () => Promise<unknown>>> = {
  'one read of a head': () => one(() => heads.findOne({ _id: 'w_0' })),
  'caught up, one caller': () => one((n) => here.caughtUp(['w_system', workspaceOf(n)])),
  'caught up, 64 callers at once': () => many(here),
  'caught up after a commit elsewhere': () =>
    one(
      (n) => here.caughtUp(['w_system', workspaceOf(n)]),
      (n) => commit(workspaceOf(n)),
    ),
};
const times = new Map(Object.keys(ways).map((way) => [way, [] as number[]]));
let count = 0;
try {
  for (let n = 0; n < WORKSPACES; n += 1) await commit(workspaceOf(n));
  for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
    for (const [way, run] of Object.entries(ways)) {
      const waited = (await run()) as number[];
      if (round >= WARM_UP) times.get(way)?.push(...waited);
    }
  }
  const { version } = await servers.db('admin').command({ buildInfo: 1 });
  console.log(
    `node ${process.version}, MongoDB ${version}, ${cpus().length} x ${cpus()[0]?.model.trim()}, ${new Date().toISOString()}`,
  );
  for (const [way, all] of times) {
    const sorted = all.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor(sorted.length * share)]?.toFixed(2);
    console.log(`${way}: ${at(0.5)} ms, 99 % ${at(0.99)} ms`);
  }
} finally {
  await Promise.all([here.close(), elsewhere.close()]);
  await servers.stop();
}

function workspaceOf(n: number): string {
  return `w_${n % WORKSPACES}`;
}

async function one(ask: (n: number) => Promise<unknown>, before?: (n: number) => Promise<unknown>): Promise<number[]> {
  const waited: number[] = [];
  for (let n = 0; n < EACH; n += 1) {
    await before?.(n);
    waited.push(await timed(() => ask(n)));
  }
  return waited;
}

function many(store: Store): Promise<number[]> {
  const calls = Array.from({ length: CALLERS }, (_, n) => n);
  return Promise.all(calls.map((n) => timed(() => store.caughtUp(['w_system', workspaceOf(n)]))));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function commit(ws: string): Promise<void> {
  count += 1;
  const name = `n${count}`;
  const publicKey = Buffer.from(name.padEnd(32, '.')).toString('base64');
  const spec = { displayName: name, hostname: name, platform: 'linux', publicKey, network: 'default' } as const;
  const record = draft('MeshPeer', name, spec, { phase: 'ready', address: '10.96.0.7', tokenId: 'tok_1' });
  await elsewhere.commit(ws, [{ op: 'create', record }], {
    actor: 'user:bench',
    reason: 'bench',
    requestId: 'r_bench',
  });
}
