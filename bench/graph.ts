import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHANGES, type ChangeKind, type Cost } from './graph/changes.ts';
import { measureLatency } from './graph/latency.ts';
import { machine, median, spread } from './report.ts';

/** What a change costs the control plane, and how soon neighbours have it: node bench/graph.ts [--quick] */

const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 3 : 7;
const CHANGES_A_ROUND = quick ? 3 : 6;
/** Registered peers, and those of them that are nodes on the bus. */
const LATENCY_SIZES = [
  [1_000, 1_000],
  [10_000, 1_000],
  [10_000, 3_000],
];
const SIZES = [1_000, 10_000, 50_000];

const folder = mkdtempSync(join(tmpdir(), 'mesh-bench-'));
console.log(`${machine()}, load average ${loadavg()[0]?.toFixed(1)}.`);
console.log(`${ROUNDS} interleaved rounds of ${CHANGES_A_ROUND} changes; median (lowest to highest)\n`);
await costs();
await latencies();
rmSync(folder, { recursive: true, force: true });

async function costs(): Promise<void> {
  const planes: { readonly size: number; readonly child: ChildProcess }[] = [];
  for (const size of SIZES) {
    const child = fork(new URL('./graph/cost.ts', import.meta.url), [join(folder, `${size}.db`), String(size)]);
    await once(child, 'message');
    planes.push({ size, child });
  }
  console.log('| One change of | peers | messages | wall ms | processor ms | by wall | by processor |');
  console.log('| --- | --- | --- | --- | --- | --- | --- |');
  for (const kind of CHANGES) {
    const runs = planes.map(({ size, child }) => ({ size, child, rounds: [] as Cost[] }));
    for (let round = -1; round < ROUNDS; round++) {
      for (const { child, rounds } of round % 2 === 0 ? runs : runs.toReversed()) {
        const cost = await tell(child, kind);
        // The first round warms up and is not counted.
        if (round >= 0) rounds.push(cost);
      }
    }
    const least = runs[0]?.rounds ?? [];
    for (const { size, rounds } of runs) {
      const ratio = (pick: 'wallMs' | 'cpuMs') => spread(rounds.map((cost, n) => cost[pick] / (least[n]?.[pick] ?? 1)));
      const text = (pick: 'wallMs' | 'cpuMs') =>
        spread(
          rounds.map((cost) => cost[pick]),
          1,
        );
      const messages = Math.round(median(rounds.map((cost) => cost.messages)));
      const cells = [
        kind,
        size.toLocaleString('en'),
        messages,
        text('wallMs'),
        text('cpuMs'),
        ratio('wallMs'),
        ratio('cpuMs'),
      ];
      console.log(`| ${cells.join(' | ')} |`);
    }
  }
  for (const { child } of planes) {
    child.disconnect();
    await once(child, 'exit');
  }
}

/** Rounds follow each other: each has a plane of its own. */
async function latencies(): Promise<void> {
  console.log('\n| Change, answer to decrypted graph | peers | live | graphs | p50 ms | p99 ms |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  const memory: string[] = [];
  for (const [size, live] of quick ? [[1_000, 500]] : LATENCY_SIZES) {
    const { samples, rss } = await measureLatency(size ?? 0, live ?? 0, ROUNDS);
    for (const [kind, all] of Object.entries(samples)) {
      const sorted = [...all].sort((a, b) => a - b);
      const at = (share: number) => sorted[Math.floor(sorted.length * share)]?.toFixed(1);
      const counts = [size, live, all.length].map((count) => count?.toLocaleString('en'));
      console.log(`| ${[kind, ...counts, at(0.5), at(0.99)].join(' | ')} |`);
    }
    memory.push(`${live?.toLocaleString('en')} of ${size?.toLocaleString('en')}: ${Math.round(rss / 1e6)} MB`);
  }
  console.log(`\nResident memory of meshd with its live nodes: ${memory.join(', ')}.`);
}

async function tell(child: ChildProcess, kind: ChangeKind): Promise<Cost> {
  const answered = once(child, 'message');
  child.send({ kind, count: CHANGES_A_ROUND });
  const [cost] = await answered;
  return cost as Cost;
}
