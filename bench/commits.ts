import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Op, Store } from '../core/base/ports.ts';
import type { RecordDraft } from '../core/base/record.ts';
import { silentLog } from '../core/base/silent-log.ts';
import type { openStore } from '../storage/open.ts';
import { draft } from './draft.ts';
import { median } from './report.ts';

/**
 * Durable commits of this checkout beside those of another one, in short bursts by turns in one process: what else the
 * machine does meets both.
 */
const USAGE = `Usage: node bench/commits.ts DIR [ROUNDS]

  DIR     another checkout with its node_modules
  ROUNDS  120
`;
const [other, rounds = '120'] = process.argv.slice(2);
if (other === undefined || other.startsWith('-')) {
  console.log(USAGE);
  process.exit(other === undefined ? 2 : 0);
}
const WRITERS = 64;
const EACH = 12;
const WARM_UP = 5;
const WS = 'w_bench';
const WHY = { actor: 'user:bench', reason: 'bench', requestId: 'r_bench' } as const;
const KINDS = ['create', 'update'] as const;

interface Side {
  readonly store: Store;
  /** By writer: the revision of the record that it updates. */
  readonly revisions: number[];
  readonly cpu: Record<(typeof KINDS)[number], number[]>;
  readonly time: Record<(typeof KINDS)[number], number[]>;
}

const folder = await mkdtemp(join(tmpdir(), 'mesh-bench-'));
const sides = [await sideOf(resolve(other), 'other'), await sideOf(join(import.meta.dirname, '..'), 'this')] as const;
try {
  console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model.trim()}, ${new Date().toISOString()}`);
  for (let round = 0; round < Number(rounds); round++) {
    for (const kind of KINDS) {
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) await burst(side, kind, round);
    }
  }
  for (const kind of KINDS) {
    const [cpu, time] = [sides.map((side) => median(side.cpu[kind])), sides.map((side) => median(side.time[kind]))];
    const told = cpu.map((each) => each.toFixed(1)).join(' and ');
    const [byCpu, byTime] = [cpu, time].map(([theirs = 0, ours = 1]) => (theirs / ours).toFixed(2));
    console.log(
      `${kind}: ${told} microseconds of processor each; of their rate ${byCpu} by it, ${byTime} by the clock`,
    );
  }
} finally {
  for (const { store } of sides) await store.close();
  await rm(folder, { recursive: true, force: true });
}

async function sideOf(checkout: string, name: string): Promise<Side> {
  const storage: { openStore: typeof openStore } = await import(join(checkout, 'storage/open.ts'));
  const store = await storage.openStore(join(folder, `${name}.db`), {
    clock: { now: () => Date.now() },
    log: silentLog,
  });
  const revisions: number[] = [];
  for (let writer = 0; writer < WRITERS; writer++) {
    revisions.push((await store.commit(WS, [{ op: 'create', record: peer(`updated-${writer}`) }], WHY)).revision);
  }
  return { store, revisions, cpu: { create: [], update: [] }, time: { create: [], update: [] } };
}

/** All writers at once, each one commit after the other. */
async function burst({ store, revisions, cpu, time }: Side, kind: (typeof KINDS)[number], round: number) {
  const [start, before] = [performance.now(), process.cpuUsage()];
  const write = async (writer: number, n: number) => {
    const op: Op =
      kind === 'create'
        ? { op: 'create', record: peer(`${round}-${writer}-${n}`) }
        : { op: 'update', record: peer(`updated-${writer}`, n), revision: revisions[writer] ?? 0 };
    const { revision } = await store.commit(WS, [op], WHY);
    if (kind === 'update') revisions[writer] = revision;
  };
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = 1; n <= EACH; n++) await write(writer, round * EACH + n);
    }),
  );
  const { user, system } = process.cpuUsage(before);
  if (round < WARM_UP) return;
  cpu[kind].push((user + system) / (WRITERS * EACH));
  time[kind].push(performance.now() - start);
}

function peer(name: string, version = 0): RecordDraft<'MeshPeer'> {
  const publicKey = Buffer.from(name.padEnd(32, '.')).toString('base64');
  const spec = { displayName: name, hostname: name, platform: 'linux', publicKey, network: 'default' } as const;
  const made = draft('MeshPeer', name, spec, { phase: 'ready', address: `10.96.0.${version % 250}`, tokenId: 'tok_1' });
  const labels = { role: 'web', env: 'prod', team: `t${version % 20}` };
  return { ...made, uid: `p_${name}`, labels, unique: [`pubkey:${publicKey}`, `name:${name}`] };
}
