import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { rootAt } from '../core/audit/keep-checkpoints.ts';
import { consistencyProof, inclusionProof, provesConsistency, provesInclusion } from '../core/audit/tree.ts';
import type { AuditTree, HashId } from '../core/base/ports.ts';
import { silentLog } from '../core/base/silent-log.ts';
import { openStore } from '../storage/open.ts';

/** A long audit log: how long it takes to write, and to prove one entry of it and that it only grew. */
const USAGE = `Usage: node bench/log.ts [--entries N] [--proofs N]

  --entries    1000000 by default
  --proofs     2000 of each kind
`;
const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '1000000' },
    proofs: { type: 'string', default: '2000' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const [ENTRIES, PROOFS] = [Number(values.entries), Number(values.proofs)];
const WS = 'w_bench';
const BATCH = 1_000;

const folder = await mkdtemp(join(tmpdir(), 'mesh-bench-'));
const clock = { now: () => Date.now() };
const store = await openStore(`sqlite:${join(folder, 'mesh.db')}`, { clock, log: silentLog });
try {
  console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model.trim()}, ${new Date().toISOString()}`);
  const start = performance.now();
  for (let at = 0; at < ENTRIES; at += BATCH) await store.record(WS, eventsFrom(at, Math.min(BATCH, ENTRIES - at)));
  console.log(`${ENTRIES} entries written in ${((performance.now() - start) / 1_000).toFixed(1)} s`);
  const tree = store.auditTree(WS);
  const size = await tree.size();
  const root = await rootAt(tree, size);
  const read = (ids: readonly HashId[]) => tree.hashes(ids);
  await timed('an entry is in the log', async (index) => {
    const proof = await inclusionProof(index, size, read);
    const hash = await leafAt(tree, index);
    return () => assert(provesInclusion(proof, { index, hash }, { size, root }));
  });
  await timed('the log only grew', async (index) => {
    const from = index + 1;
    const proof = await consistencyProof(from, size, read);
    const before = { size: from, root: await rootAt(tree, from) };
    return () => assert(provesConsistency(proof, before, { size, root }));
  });
} finally {
  await store.close();
  await rm(folder, { recursive: true, force: true });
}

function eventsFrom(at: number, count: number) {
  return Array.from({ length: count }, (_, n) => ({
    type: 'login' as const,
    actor: `user:person-${(at + n) % 100}`,
    result: 'ok' as const,
    requestId: `r_${at + n}`,
  }));
}

async function leafAt(tree: AuditTree, index: number): Promise<Uint8Array> {
  const [leaf] = await tree.hashes([{ level: 0, index }]);
  return leaf ?? assert.fail('no leaf');
}

/** Makes proofs spread over the whole log, each of which has to hold; the check of it is in the time of the processor alone. */
async function timed(what: string, prove: (index: number) => Promise<() => void>): Promise<void> {
  const times: number[] = [];
  const cpu = process.cpuUsage();
  for (let n = 0; n < PROOFS; n++) {
    // A stride that shares no factor with the size visits all parts of it.
    const index = (n * 611_953) % ENTRIES;
    const start = performance.now();
    const check = await prove(index);
    times.push(performance.now() - start);
    check();
  }
  const { user, system } = process.cpuUsage(cpu);
  const busy = ((user + system) / 1_000 / times.length).toFixed(2);
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(2);
  console.log(
    `proof that ${what}: ${at(0.5)} ms median, ${at(0.99)} ms of 99 %, ${at(1)} ms at most; ${busy} ms of processor with its check`,
  );
}
