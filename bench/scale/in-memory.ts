import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHANGES, type ChangeKind, type Cost } from '../graph/changes.ts';
import { median } from '../report.ts';

const ROUNDS = 5;
const CHANGES_A_ROUND = 4;
const PAGE_BYTES = 4_096;

export interface InMemory {
  /** Medians of one change. */
  readonly costs: readonly (Cost & { readonly kind: ChangeKind })[];
  readonly rss: number;
}

/** A control plane without faces and sockets that holds so many peers, a thousand of them connected (bench/graph/cost.ts). */
export async function measureInMemory(peers: number): Promise<InMemory> {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-bench-'));
  const child = fork(new URL('../graph/cost.ts', import.meta.url), [join(folder, 'mesh.db'), String(peers)], {
    execArgv: ['--max-old-space-size=8192'],
  });
  try {
    await once(child, 'message');
    const costs: InMemory['costs'][number][] = [];
    for (const kind of CHANGES) {
      const rounds: Cost[] = [];
      for (let round = 0; round < ROUNDS; round += 1) rounds.push(await tell(child, kind));
      const of = (key: keyof Cost) => median(rounds.map((cost) => cost[key]));
      costs.push({ kind, wallMs: of('wallMs'), cpuMs: of('cpuMs'), messages: of('messages') });
    }
    const rss = Number(readFileSync(`/proc/${child.pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
    return { costs, rss };
  } finally {
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tell(child: ChildProcess, kind: ChangeKind): Promise<Cost> {
  const answered = once(child, 'message');
  child.send({ kind, count: CHANGES_A_ROUND });
  const [cost] = await answered;
  return cost as Cost;
}
