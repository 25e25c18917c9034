import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import type { Log, Op, Store } from '../core/base/ports.ts';
import type { RecordDraft } from '../core/base/record.ts';
import { openStore } from '../storage/open.ts';
import { median } from './report.ts';

/** Figures for docs/benchmarks/store.md: `node bench/store.ts`. Rounds of the store and of bare node:sqlite alternate. */
const WRITERS = 64;
const ROUNDS = 5;
const ROUND_MS = 800;
const PEERS = 10_000;
const POINT_READS = 20_000;
const WS = 'w_bench';
const WHY = { actor: 'user:bench', reason: 'bench', requestId: 'req-bench' } as const;
const quiet: Log = { error: console.error, warn() {}, info() {}, debug() {} };

const folder = await mkdtemp(join(tmpdir(), 'mesh-bench-'));
try {
  console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model.trim()}, ${new Date().toISOString()}`);
  await commits();
  await reads();
  await snapshotSizes();
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function commits(): Promise<void> {
  const store = await emptyStore('commits');
  const raw = bareSqlite(join(folder, 'raw.db'));
  const rates: Record<'create' | 'update' | 'raw', Rate>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rates.push({
      create: await rate((writer, n) =>
        store.commit(WS, [{ op: 'create', record: peer(`${round}-${writer}-${n}`) }], WHY),
      ),
      update: await updateRate(store, round),
      raw: await rate((writer, n) => raw.write(JSON.stringify(peer(`${round}-${writer}-${n}`)))),
    });
  }
  for (const [what, key] of [
    ['durable commits/s, create, 64 writers', 'create'],
    ['durable commits/s, update, 64 writers', 'update'],
    ['bare node:sqlite, row + log row, same grouping, commits/s', 'raw'],
  ] as const) {
    print(what, median(rates.map((each) => each[key].perSecond)));
    print('  best round', Math.max(...rates.map((each) => each[key].perSecond)));
    print('  processor microseconds each', median(rates.map((each) => each[key].cpuMicroseconds)));
  }
  print('ratio create/bare', median(rates.map(({ create, raw: bare }) => create.perSecond / bare.perSecond)), 2);
  await store.close();
  raw.close();
}

async function updateRate(store: Store, round: number): Promise<Rate> {
  const revisions = await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      const record = peer(`update-${round}-${writer}`);
      return (await store.commit(WS, [{ op: 'create', record }], WHY)).revision;
    }),
  );
  return rate(async (writer, n) => {
    const record = peer(`update-${round}-${writer}`, n);
    const commit = await store.commit(WS, [{ op: 'update', record, revision: revisions[writer] ?? 0 }], WHY);
    revisions[writer] = commit.revision;
  });
}

interface Rate {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
}

/** Calls of all writers together. */
async function rate(write: (writer: number, n: number) => Promise<unknown>): Promise<Rate> {
  const start = performance.now();
  const cpu = process.cpuUsage();
  let calls = 0;
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = 0; performance.now() - start < ROUND_MS; n++, calls++) await write(writer, n);
    }),
  );
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: (calls * 1_000) / (performance.now() - start), cpuMicroseconds: (user + system) / calls };
}

/** What the store cannot do without: one row and one log row a commit, one fsync a tick. */
function bareSqlite(path: string): { write(body: string): Promise<void>; close(): void } {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE record (id INTEGER PRIMARY KEY, body TEXT) STRICT; CREATE TABLE log (id INTEGER PRIMARY KEY, body TEXT) STRICT;`);
  const statements = ['record', 'log'].map((table) => database.prepare(`INSERT INTO ${table} (body) VALUES (?)`));
  let queue: { body: string; resolve: () => void }[] = [];
  const flush = (): void => {
    const batch = queue;
    queue = [];
    database.exec('BEGIN IMMEDIATE');
    for (const { body } of batch) for (const statement of statements) statement.run(body);
    database.exec('COMMIT');
    for (const { resolve } of batch) resolve();
  };
  return {
    write: (body) =>
      new Promise((resolve) => {
        if (queue.length === 0) setImmediate(flush);
        queue.push({ body, resolve });
      }),
    close: () => database.close(),
  };
}

async function reads(): Promise<void> {
  const store = await emptyStore('reads');
  const created = await fill(store, PEERS);
  for (const version of [1, 2, 3]) await rewrite(store, PEERS, version);
  const timed: Record<'past' | 'pastCpu' | 'now' | 'stall', number[]> = { past: [], pastCpu: [], now: [], stall: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const cpu = process.cpuUsage();
    timed.past.push(await duration(() => store.list(WS, 'MeshPeer', { asOf: { revision: created } })));
    const { user, system } = process.cpuUsage(cpu);
    timed.pastCpu.push((user + system) / 1_000);
    timed.now.push(await duration(() => store.list(WS, 'MeshPeer')));
    delay.disable();
    timed.stall.push(delay.max / 1e6);
  }
  print(`as-of list of ${PEERS} peers, every one superseded 3 times, ms`, median(timed.past));
  print('of that on a processor, ms', median(timed.pastCpu));
  print(`list of ${PEERS} peers now, ms`, median(timed.now));
  print('longest stall of the event loop meanwhile, ms', median(timed.stall), 1);
  const point = async (asOf?: { revision: number }) => {
    const taken = await duration(async () => {
      for (let n = 0; n < POINT_READS; n++) {
        await store.get(WS, { kind: 'MeshPeer', name: `p${(n * 7_919) % PEERS}` }, asOf);
      }
    });
    return (taken * 1_000) / POINT_READS;
  };
  print('point read, microseconds', await point(), 1);
  print('point read as of a revision, microseconds', await point({ revision: created }), 1);
  await store.close();
}

/** Bytes that each kind of change adds to the store, by the size of the network. */
async function snapshotSizes(): Promise<void> {
  for (const peers of [10, 100, 1_000, 10_000]) {
    const store = await emptyStore(`sizes-${peers}`);
    await fill(store, peers);
    const flips = (count: number): Op[] =>
      Array.from({ length: count }, (_, n) => ({ op: 'create', record: presence(`p${n}`) }));
    const size = async (ops: readonly Op[]): Promise<number> => {
      const before = await store.revision(WS);
      const { revision } = await store.commit(WS, ops, WHY);
      return store.sizeBetween(WS, before, revision);
    };
    const moved = await store.get(WS, { kind: 'MeshPeer', name: 'p1' });
    print(`${peers} peers: nothing changed, bytes`, await size([]));
    print(`${peers} peers: one presence change, bytes`, await size(flips(1)));
    print(`${peers} peers: one policy, bytes`, await size([{ op: 'create', record: policy(0) }]));
    print(
      `${peers} peers: one peer changed, bytes`,
      await size([{ op: 'update', record: peer('p1', 9), revision: moved?.revision ?? 0 }]),
    );
    print(
      `${peers} peers: 20 policies, bytes`,
      await size(Array.from({ length: 20 }, (_, n) => ({ op: 'create', record: policy(n + 1) }))),
    );
    if (peers >= 100) {
      await store.commit(WS, [{ op: 'delete', key: { kind: 'Presence', name: 'p0' } }], WHY);
      print(`${peers} peers: 50 presence changes, bytes`, await size(flips(50)));
    }
    await store.close();
  }
}

/** @returns the revision at which all peers are there */
async function fill(store: Store, count: number): Promise<number> {
  await store.commit(
    WS,
    Array.from({ length: count }, (_, n) => ({ op: 'create', record: peer(`p${n}`) }) as const),
    WHY,
  );
  return store.revision(WS);
}

async function rewrite(store: Store, count: number, version: number): Promise<void> {
  const revision = await store.revision(WS);
  await store.commit(
    WS,
    Array.from({ length: count }, (_, n) => ({ op: 'update', record: peer(`p${n}`, version), revision }) as const),
    WHY,
  );
}

function peer(name: string, version = 0): RecordDraft<'MeshPeer'> {
  const seed = [...name].reduce((sum, char) => (Math.imul(sum, 31) + char.charCodeAt(0)) >>> 0, 7);
  const key = randomText(seed, 43);
  return {
    kind: 'MeshPeer',
    name,
    uid: `p_${randomText(seed + 1, 26)}`,
    labels: { role: ['web', 'db', 'cache'][seed % 3] ?? 'web', env: 'prod', team: `t${seed % 20}` },
    annotations: {},
    spec: {
      displayName: name,
      hostname: `${name}.example`,
      platform: 'linux',
      publicKey: `${key}=`,
      network: 'default',
    },
    status: {
      phase: 'ready',
      address: `10.96.${seed % 256}.${version}`,
      approvedBy: 'user:admin',
      approvedAt: new Date(1_700_000_000_000 + seed).toISOString(),
    },
    unique: [`pubkey:${key}=`, `name:${name}`],
  };
}

function presence(name: string): RecordDraft<'Presence'> {
  const uid = `r_${randomText(name.length * 7 + Number(name.slice(1)), 26)}`;
  return {
    kind: 'Presence',
    name,
    uid,
    labels: {},
    annotations: {},
    spec: { online: true },
    status: {},
    unique: [],
  };
}

function policy(n: number): RecordDraft<'MeshPolicy'> {
  return {
    kind: 'MeshPolicy',
    name: `allow-web-${n}-to-db`,
    uid: `pol_${randomText(n, 26)}`,
    labels: {},
    annotations: {},
    spec: {
      action: 'ALLOW',
      peerSelector: { matchLabels: { role: `db-${n}` } },
      ingress: [
        { from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 5_432 + n }] },
      ],
    },
    status: {},
    unique: [],
  };
}

/** Text that does not compress, the same for the same seed. */
function randomText(seed: number, length: number): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  let state = seed + 1;
  let text = '';
  for (let n = 0; n < length; n++) {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0;
    text += alphabet[(state >>> 13) % alphabet.length];
  }
  return text;
}

function emptyStore(name: string): Promise<Store> {
  return openStore(join(folder, `${name}.db`), { clock: { now: () => Date.now() }, log: quiet });
}

async function duration(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function print(what: string, value: number, digits = 0): void {
  console.log(`${what}: ${value.toFixed(digits)}`);
}
