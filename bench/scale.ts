import { loadavg } from 'node:os';
import { hasMongod } from '../test/kits/servers/replica-set.ts';
import { machine } from './report.ts';
import { measureColdStart, measureColdStartOnMongo } from './scale/cold-start.ts';
import { measureFleet } from './scale/fleet.ts';
import { measureInMemory } from './scale/in-memory.ts';
import { measurePlanes } from './scale/planes.ts';

/**
 * How large a network may be: `node bench/scale.ts [nodes|memory|start|planes] [size]`. Nodes on real sockets in one process
 * (10,000), peers in memory (100,000), the start on what is there (20,000 peers, five commits for each), and requests to one
 * and to three control planes (1,000 peers; needs test/mongod.sh). All without a word.
 */
const [part, size] = process.argv.slice(2);
const PARTS = { nodes, memory, start, planes } as const;

console.log(`${machine()}, load average ${loadavg()[0]?.toFixed(1)}.`);
for (const [name, measure] of Object.entries(PARTS)) {
  if (part === undefined || part === name) await measure(size === undefined ? undefined : Number(size));
}

async function nodes(devices = 10_000): Promise<void> {
  const { storm, idleMs, changes, question } = await measureFleet(devices);
  table(
    ['Nodes', 'joined, all graphs right, s', 'MB of meshd', 'KB a node', 'idle: processor ms a node and minute'],
    [
      [
        count(devices),
        (storm.settled / 1_000).toFixed(1),
        mb(storm.rss),
        (storm.rss / 1e3 / devices).toFixed(1),
        idleMs.toFixed(2),
      ],
    ],
  );
  table(
    ['A policy changes for', 'messages', 'until the last, s', 'processor s'],
    changes.map(({ what, told, seconds, cpuS }) => [what, count(told), seconds.toFixed(2), cpuS.toFixed(2)]),
  );
  table(
    ['Who reaches whom, asked over REST', 'p50 ms', 'p99 ms', 'processor ms'],
    [['one pair', question.p50.toFixed(2), question.p99.toFixed(2), question.cpu.toFixed(2)]],
  );
}

async function memory(peers = 100_000): Promise<void> {
  const { costs, rss } = await measureInMemory(peers);
  table(
    [`One change among ${count(peers)} peers (${mb(rss)} MB)`, 'messages', 'wall ms', 'processor ms'],
    costs.map(({ kind, messages, wallMs, cpuMs }) => [kind, count(messages), wallMs.toFixed(1), cpuMs.toFixed(1)]),
  );
}

async function start(peers = 20_000): Promise<void> {
  const commits = peers * 5;
  const row = (where: string, { ready, answered, rss }: Awaited<ReturnType<typeof measureColdStartOnMongo>>) => [
    `${count(peers)} peers, ${count(commits)} commits, ${where}`,
    ready.toFixed(2),
    answered.toFixed(2),
    mb(rss),
  ];
  const file = await measureColdStart(peers, commits);
  const rows = [row(`a file of ${mb(file.fileBytes)} MB`, file)];
  if (hasMongod) rows.push(row('a replica set of three', await measureColdStartOnMongo(peers, commits)));
  table(['Start on', '/readyz, s', 'first answer, s', 'MB of meshd'], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): void {
  console.log(
    ['', head, head.map(() => '---'), ...rows]
      .map((cells) => (cells === '' ? '' : `| ${(cells as string[]).join(' | ')} |`))
      .join('\n'),
  );
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

async function planes(peers = 1_000): Promise<void> {
  const { idle, requests } = await measurePlanes(peers);
  const columns = ['control planes', 'of them', 'of the primary', 'of the other two'];
  const row = ({ planes: count, plane, primary, others }: (typeof idle)[number]) => [
    String(count),
    ...[plane, primary, others].map((ms) => ms.toFixed(2)),
  ];
  table(
    ['Processor of one request, ms', ...columns],
    requests.map((cost) => [cost.what, ...row(cost)]),
  );
  table(
    ['Processor of an idle second, ms (the database serves all four)', ...columns],
    idle.map((cost) => ['', ...row(cost)]),
  );
}
