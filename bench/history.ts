import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Log, Op } from '../core/base/ports.ts';
import type { RecordDraft } from '../core/base/record.ts';
import { formatInstant } from '../core/base/time.ts';
import { changeList } from '../core/history/change-list.ts';
import { connectivity } from '../core/history/connectivity.ts';
import { diffStates } from '../core/history/diff.ts';
import { rangeOf } from '../core/history/pair/range.ts';
import { takeSnapshot } from '../core/history/snapshots.ts';
import { buildNetworkStates } from '../core/state/states.ts';
import { openStore } from '../storage/open.ts';
import { draft } from './draft.ts';
import { flipsOfPair, longHistory } from './history/long.ts';
import { medianOf, print, printPeakMemory } from './history/measure.ts';

/** Figures for docs/benchmarks/history.md. */
const USAGE = `Usage: node bench/history.ts [--only peers|flips|commits] [--size NUMBER] [PEERS]...

  peers    differences, states and checks of the past at 10 to 10,000 peers (or at PEERS)
  flips    all flips of a pair over 10,000 revisions, as so many checks of one instant
  commits  50,000 commits against 50: snapshots, start, questions, bytes on disk, peak memory
  --size   revisions of "flips", commits of "commits"; more than 50
`;
const parts = { peers: figuresOfPeers, flips: figuresOfFlips, commits: figuresOfCommits };
const { values, positionals } = argumentsOf();
const { only } = values;
const PEERS = positionals.length > 0 ? positionals.map(Number) : [10, 100, 1_000, 10_000];
const GROUPS = 10;
const ROUNDS = 7;
const BATCH = 500;
const PAGE = 20;
const WS = 'w_bench';
const WHY = { actor: 'user:bench', reason: 'bench', requestId: 'req-bench' } as const;
const quiet: Log = { error: console.error, warn() {}, info() {}, debug() {} };
const clock = { now: Date.now };

const folder = await mkdtemp(join(tmpdir(), 'mesh-bench-'));
try {
  console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model.trim()}, ${new Date().toISOString()}`);
  for (const [name, measure] of Object.entries(parts)) if (only === undefined || only === name) await measure();
} finally {
  await rm(folder, { recursive: true, force: true });
}

function argumentsOf() {
  const options = {
    only: { type: 'string' },
    size: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    const given = parseArgs({ allowPositionals: true, options });
    const { values: read, positionals: sizes } = given;
    if (read.help) {
      console.log(USAGE);
      process.exit(0);
    }
    if (read.only !== undefined && !Object.hasOwn(parts, read.only)) throw new Error(`There is no part ${read.only}.`);
    if (read.size !== undefined && !(Number(read.size) > 50))
      throw new Error(`--size is a number above 50, not ${read.size}.`);
    const wrong = sizes.find((size) => !/^[1-9]\d*$/.test(size));
    if (wrong !== undefined) throw new Error(`PEERS is a number above 0, not ${wrong}.`);
    return given;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function figuresOfFlips(): Promise<void> {
  await flipsOfPair(folder, Number(values.size ?? 10_000));
}

async function figuresOfCommits(): Promise<void> {
  await longHistory(folder, Number(values.size ?? 50_000));
}

async function figuresOfPeers(): Promise<void> {
  for (const size of PEERS) await figures(size);
  printPeakMemory(`${PEERS.join(', ')} peers`);
}

async function figures(size: number): Promise<void> {
  const store = await openStore(join(folder, `${size}.db`), { clock, log: quiet });
  const services = { store, states: buildNetworkStates({ store }), clock };
  await fill(store, size);
  const asked = { trigger: 'manual', triggeredBy: 'user:bench' } as const;
  await takeSnapshot(services, WS, asked, WHY);
  const before = { state: await services.states.current(WS), at: clock.now() };

  const one = await store.commit(WS, [{ op: 'create', record: policy('after', 'g1', 'g2') }], WHY);
  const sized = await takeSnapshot(services, WS, asked, WHY);
  console.log(`${size} peers, snapshot of one policy change, bytes of history: ${sized?.spec.historyBytes}`);
  for (let index = 0; index < PAGE; index += 1)
    await write(store, [policy(`change-${index}`, 'g3', `g${index % GROUPS}`)]);
  for (let group = 0; group < size; group += BATCH) await relabel(store, group, Math.min(group + BATCH, size));
  const after = { state: await services.states.current(WS), at: clock.now() };
  const middle = { state: await services.states.asOf(WS, { revision: one.revision }), at: one.at };

  const range = await rangeOf(services, WS, { from: formatInstant(before.at) });
  const asks = { filter: {}, left: undefined, limit: PAGE };
  print(
    `${size} peers, ${PAGE} changes of a policy and their effects`,
    await medianOf(ROUNDS, () => changeList({ store, states: buildNetworkStates({ store }) }, WS, range, asks)),
  );
  print(`${size} peers, diff of one policy change`, await medianOf(ROUNDS, () => diffStates(services, before, middle)));
  print(
    `${size} peers, diff of a new label on every peer`,
    await medianOf(ROUNDS, () => diffStates(services, before, after)),
  );
  const point = { revision: before.state.revision };
  print(`${size} peers, as-of read, nothing remembered`, await medianOf(ROUNDS, () => freshStates(store, point)));
  const question = { src: 'peer-1', dst: 'peer-2', protocol: 'TCP', port: 5432, at: formatInstant(one.at) } as const;
  print(
    `${size} peers, connectivity at an instant, nothing remembered`,
    await medianOf(ROUNDS, () => askAfresh(store, question)),
  );
  await store.close();
}

type Opened = Awaited<ReturnType<typeof openStore>>;

/** The newest state is in memory in a running control plane, so it is read outside the measured time. */
async function freshStates(store: Opened, point: { readonly revision: number }): Promise<() => Promise<unknown>> {
  const states = buildNetworkStates({ store });
  await states.current(WS);
  return () => states.asOf(WS, point);
}

async function askAfresh(store: Opened, question: Parameters<typeof connectivity>[2]): Promise<() => Promise<unknown>> {
  const states = buildNetworkStates({ store });
  states.reachability(await states.current(WS), clock.now());
  return () => connectivity({ store, states, clock }, WS, question);
}

async function fill(store: Opened, size: number): Promise<void> {
  const spec = { cidr: '10.64.0.0/12', mtu: 1280, defaultAction: 'ALLOW' } as const;
  const network = draft('MeshNetwork', 'default', spec, {});
  const policies = Array.from({ length: GROUPS }, (_, n) => policy(`p${n}`, `g${n}`, `g${(n + 1) % GROUPS}`));
  await write(store, [network, ...policies]);
  for (let from = 0; from < size; from += BATCH) {
    const count = Math.min(BATCH, size - from);
    await write(store, Array.from({ length: count }, (_, n) => [peer(from + n), presence(from + n)]).flat());
  }
}

async function relabel(store: Opened, from: number, to: number): Promise<void> {
  const ops: Op[] = [];
  for (let index = from; index < to; index += 1) {
    const found = await store.get(WS, { kind: 'MeshPeer', name: `peer-${index}` });
    if (!found) throw new Error(`no peer-${index}`);
    const record = { ...peer(index), uid: found.uid, labels: { ...found.labels, tier: 'new' } };
    ops.push({ op: 'update', record, revision: found.revision });
  }
  await store.commit(WS, ops, WHY);
}

async function write(store: Opened, records: readonly RecordDraft[]): Promise<void> {
  await store.commit(
    WS,
    records.map((record) => ({ op: 'create', record })),
    WHY,
  );
}

function peer(index: number): RecordDraft<'MeshPeer'> {
  const name = `peer-${index}`;
  const publicKey = Buffer.from(name.padEnd(32, '.')).toString('base64');
  const spec = { displayName: name, hostname: name, platform: 'linux', publicKey, network: 'default' } as const;
  const address = `10.${64 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
  return {
    ...draft('MeshPeer', name, spec, { phase: 'ready', address }),
    labels: { role: `g${index % GROUPS}` },
  };
}

function presence(index: number): RecordDraft {
  return draft('Presence', `peer-${index}`, { online: index % 2 === 0 }, {});
}

function policy(name: string, to: string, from: string): RecordDraft {
  const rule = {
    from: [{ peerSelector: { matchLabels: { role: from } } }],
    ports: [{ protocol: 'TCP' as const, port: 5432 }],
  };
  const peerSelector = { matchLabels: { role: to } };
  return draft('MeshPolicy', name, { action: 'ALLOW', peerSelector, ingress: [rule] }, {});
}
