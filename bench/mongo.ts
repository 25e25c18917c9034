import { cpus, loadavg } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Store } from '../core/base/ports.ts';
import type { RecordDraft } from '../core/base/record.ts';
import { silentLog } from '../core/base/silent-log.ts';
import { openStore } from '../storage/open.ts';
import { startReplicaSet } from '../test/kits/servers/replica-set.ts';
import { draft } from './draft.ts';
import { measurePlaneWrites } from './mongo/planes.ts';
import { median } from './report.ts';

/**
 * Commits to a replica set of three beside what the driver alone does there: 64 writers insert one document each, held by
 * a majority when it is answered. In short bursts by turns, on servers that this starts (test/mongod.sh brings them).
 */
const USAGE = `Usage: node bench/mongo.ts [ROUNDS]
       node bench/mongo.ts planes [ROUNDS] [DIR]

  ROUNDS  30; of planes 3
  planes  policies of one workspace through three control planes instead
  DIR     another checkout with its node_modules and dashboard, measured by turns with this one
`;
const [rounds = '30', ...more] = process.argv.slice(2);
if (rounds.startsWith('-')) {
  console.log(USAGE);
  process.exit(0);
}
if (rounds === 'planes') {
  await measurePlanes(more);
  process.exit(0);
}
const WRITERS = 64;
const EACH = 6;
const WARM_UP = 3;
const WHY = { actor: 'user:bench', reason: 'bench', requestId: 'r_bench' } as const;

const servers = await startReplicaSet();
const store = await openStore(servers.url('bench'), { clock: { now: () => Date.now() }, log: silentLog });
const bare = servers
  .db('bare')
  .collection('inserted', { writeConcern: { w: 'majority' }, readConcern: { level: 'majority' } });
const ways = {
  'driver alone, one insert each': (name: string) => bare.insertOne({ ...peer(name), at: Date.now() }),
  'commits to one workspace': (name: string) => commit(store, 'w_bench', name),
  'commits to 64 workspaces': (name: string, writer: number) => commit(store, `w_${writer}`, name),
};
const rates = Object.fromEntries(Object.keys(ways).map((way) => [way, [] as number[]]));
try {
  for (let round = 0; round < Number(rounds) + WARM_UP; round += 1) {
    for (const [way, write] of Object.entries(ways)) {
      const rate = await burst((writer, n) => write(`${way.length}-${round}-${writer}-${n}`, writer));
      if (round >= WARM_UP) rates[way]?.push(rate);
    }
  }
  const { version } = await servers.db('admin').command({ buildInfo: 1 });
  console.log(
    `node ${process.version}, MongoDB ${version}, ${cpus().length} x ${cpus()[0]?.model.trim()}, ${new Date().toISOString()}`,
  );
  const [base = 1] = Object.values(rates).map(median);
  for (const [way, each] of Object.entries(rates)) {
    console.log(
      `${way}: ${Math.round(median(each))} a second, ${(median(each) / base).toFixed(2)} of the driver alone`,
    );
  }
} finally {
  await store.close();
  await servers.stop();
}

async function measurePlanes([times = '3', ...others]: readonly string[]): Promise<void> {
  const servers = await startReplicaSet({ electionMs: 10_000 });
  try {
    const [load = 0] = loadavg();
    console.log(`load average ${load.toFixed(1)} at its begin, ${new Date().toISOString()}`);
    const checkouts = [path.resolve(import.meta.dirname, '..'), ...others.map((each) => path.resolve(each))];
    for (const found of await measurePlaneWrites(servers, checkouts, Number(times))) {
      const { checkout, isJudged, clients, rate, median: each, p99, transactions, planes } = found;
      console.log(
        `${checkout}, ${isJudged ? 'an assertion stands' : 'no assertion'}, ${clients} clients: ${rate.toFixed(1)} a second, median ${each.toFixed(0)} ms, 99 % ${p99.toFixed(0)} ms; for each ${transactions.toFixed(2)} transactions, ${planes.toFixed(1)} ms of processor of the control planes`,
      );
    }
  } finally {
    await servers.stop();
  }
}

/** All writers at once, each one write after the other. @returns writes a second */
async function burst(write: (writer: number, n: number) => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = 0; n < EACH; n += 1) await write(writer, n);
    }),
  );
  return (WRITERS * EACH * 1_000) / (performance.now() - start);
}

function commit(to: Store, workspace: string, name: string) {
  return to.commit(workspace, [{ op: 'create', record: peer(name) }], WHY);
}

function peer(name: string): RecordDraft<'MeshPeer'> {
  const publicKey = Buffer.from(name.padEnd(32, '.')).toString('base64');
  const spec = { displayName: name, hostname: name, platform: 'linux', publicKey, network: 'default' } as const;
  const made = draft('MeshPeer', name, spec, { phase: 'ready', address: '10.96.0.7', tokenId: 'tok_1' });
  return { ...made, uid: `p_${name}`, labels: { role: 'web' }, unique: [`pubkey:${publicKey}`, `name:${name}`] };
}
