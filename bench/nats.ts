import { cpus, loadavg, release } from 'node:os';
import { type Broker, OTHERS, startMesh, startOther } from './nats/servers.ts';
import {
  fanOut,
  graphPushes,
  latencyAt,
  oneToOne,
  openMany,
  pairs,
  type Run,
  requestReply,
  type Workload,
} from './nats/workloads.ts';
import { median, spread } from './report.ts';

/**
 * The embedded broker beside nats-server, or beside itself without what is named:
 * node bench/nats.ts [--quick] [--only <text>] [--against plain|copies]
 */

const quick = process.argv.includes('--quick');
const only = process.argv.includes('--only') ? (process.argv[process.argv.indexOf('--only') + 1] ?? '') : '';
const against = OTHERS.find((name) => name === process.argv[process.argv.indexOf('--against') + 1]) ?? 'nats-server';
const ROUNDS = quick ? 1 : 7;
const SCALE = quick ? 0.4 : 1;
const IDLE = quick ? 2_000 : 10_000;

const workloads: readonly (readonly [name: string, workload: Workload, target: number, cpuTarget: number])[] = [
  ['1:1, 128 B', oneToOne(128), 0.9, 1],
  ['1:1, 256 B', oneToOne(256), 0.9, 1],
  ['1:1, 1 KB', oneToOne(1_024), 0.9, 1],
  ['fan-out 1:1,000, 256 B', fanOut(256, 'same'), 0.9, 1],
  ['fan-out 1:1,000, 256 B, own sids', fanOut(256, 'own'), 0.9, 1],
  ['fan-out 1:1,000, 4 KB', fanOut(4_096, 'same'), 0.9, 1],
  ['fan-out 1:1,000, 4 KB, own sids', fanOut(4_096, 'own'), 0.9, 1],
  ['graph pushes, 4 KB to 1,000 peers', graphPushes, 0.9, 1],
  ['64 pairs, 256 B, one PUB a write', pairs, 0.7, 0],
  ['request/reply, 1 outstanding', requestReply(1), 0.7, 0],
  ['request/reply, 64 outstanding', requestReply(64), 0.7, 0],
];

const brokers = [await startMesh(), await startOther(against)];
try {
  console.log(
    `${cpus().length} cores of ${cpus()[0]?.model}, Linux ${release()}, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}`,
  );
  console.log(`${ROUNDS} interleaved rounds; ratio = mesh / ${against}, median of paired rounds (lowest to highest)\n`);
  console.log(`| Workload | mesh msg/s | ${against} msg/s | rate | CPU (above 1: mesh cheaper) | target rate |`);
  console.log('|---|---|---|---|---|---|');
  let peak = 0;
  for (const [name, workload, target] of workloads) {
    if (!name.includes(only)) continue;
    const rates = await compare(workload);
    if (name.includes('64 outstanding')) peak = rates.mesh;
    console.log(
      `| ${name} | ${thousands(rates.mesh)} | ${thousands(rates.theirs)} | ${rates.rate} | ${rates.cpu} | ${target} |`,
    );
  }
  if (peak > 0) await latency(peak / 2);
  if (only === '' || only === 'idle') await idle();
} finally {
  for (const broker of brokers) broker.stop();
}

async function compare(workload: Workload) {
  const rates: number[][] = [[], []];
  const costs: number[][] = [[], []];
  for (const broker of brokers) await workload(broker.port, SCALE / 4);
  for (let round = 0; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? [0, 1] : [1, 0];
    for (const at of order) {
      const broker = brokers[at] as Broker;
      const before = broker.cpu();
      const run: Run = await workload(broker.port, SCALE);
      const cpu = broker.cpu() - before;
      rates[at]?.push(run.messages / run.seconds);
      costs[at]?.push(cpu / run.messages);
    }
  }
  const [ours = [], theirs = []] = rates;
  const [ourCost = [], theirCost = []] = costs;
  return {
    mesh: median(ours),
    theirs: median(theirs),
    rate: spread(ours.map((rate, at) => rate / (theirs[at] ?? 1))),
    cpu: spread(ourCost.map((cost, at) => (theirCost[at] ?? 0) / cost)),
  };
}

async function latency(perSecond: number): Promise<void> {
  const p99: number[][] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, broker] of brokers.entries()) {
      const run = await latencyAt(broker.port, perSecond, quick ? 0.5 : 1);
      p99[at]?.push(run.p99 ?? 0);
    }
  }
  console.log(
    `\nRequest/reply at half load (${thousands(perSecond)} a second), p99, median of rounds (lowest to highest):`,
  );
  for (const [at, { name }] of brokers.entries()) console.log(`- ${name}: ${spread(p99[at] ?? [])} ms`);
}

async function idle(): Promise<void> {
  console.log(`\n${thousands(IDLE)} idle connections with one subscription each:`);
  for (const start of [startMesh, () => startOther(against)]) {
    const broker = await start();
    const before = broker.rss();
    const wires = [];
    for (let at = 0; at < IDLE; at += 500) {
      wires.push(...(await openMany(broker.port, 500, (n) => `SUB load.ws.peer${at + n}.signal 1\r\n`)));
    }
    const each = (broker.rss() - before) / IDLE;
    const cpu = broker.cpu();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const busy = ((broker.cpu() - cpu) / 3) * 100;
    console.log(`- ${broker.name}: ${(each / 1_024).toFixed(1)} KB each, ${busy.toFixed(1)} % of a core`);
    for (const wire of wires) wire.close();
    broker.stop();
  }
}

function thousands(value: number): string {
  return Math.round(value).toLocaleString('en');
}
