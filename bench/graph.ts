import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHANGES, type ChangeKind, type Cost } from './graph/changes.ts';
import { machine, median, spread } from './report.ts';

/** What a change costs the control plane, and how soon neighbours have it: node bench/graph.ts [--quick] */

const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 3 : 7;
const CHANGES_A_ROUND = quick ? 5 : 10;
const SIZES = [1_000, 10_000, 50_000];

const folder = mkdtempSync(join(tmpdir(), 'mesh-bench-'));
console.log(`${machine()}, load average ${loadavg()[0]?.toFixed(1)}.`);
console.log(`${ROUNDS} interleaved rounds of ${CHANGES_A_ROUND} changes; median (lowest to highest)\n`);
await costs();
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

async function tell(child: ChildProcess, kind: ChangeKind): Promise<Cost> {
  const answered = once(child, 'message');
  child.send({ kind, count: CHANGES_A_ROUND });
  const [cost] = await answered;
  return cost as Cost;
}
