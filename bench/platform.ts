import { setTimeout as after } from 'node:timers/promises';
import { PLATFORM_CHOICES, type PlatformChoice } from '../platform/choice.ts';
import { natlab } from '../test/kits/lab/natlab.ts';
import { type LabNode, labNodes } from '../test/kits/lab/natlab-node.ts';
import { startLabPlane } from '../test/kits/lab/natlab-plane.ts';
import { memoryOf } from './node/process.ts';
import { tcpThroughput } from './node/throughput.ts';
import { machine, spread, wireguardGo } from './report.ts';

/** What nodes gain by the operating system, beside MESH_PLATFORM=plain in the same lab, as root: node bench/platform.ts [--quick] */

const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 3 : 7;
const SECONDS = quick ? 1 : 2;
/** After which a node that came up again is at rest. */
const IDLE_MS = 8_000;
const PATHS = ['direct', 'relayed'] as const;
type Path = (typeof PATHS)[number];

const hostsOf = (choice: PlatformChoice, path: Path) => [`${choice}-${path}-1`, `${choice}-${path}-2`] as const;
const pairs = PLATFORM_CHOICES.flatMap((choice) =>
  PATHS.map((path) => ({ choice, path, hosts: hostsOf(choice, path) })),
);

console.log(`${machine()}, ${wireguardGo()}\n`);
await using lab = await natlab({
  hosts: Object.fromEntries(pairs.flatMap(({ hosts }) => hosts.map((name) => [name, { family: 'ipv4' } as const]))),
});
await using plane = await startLabPlane(lab);
const opened: Awaited<ReturnType<typeof open>>[] = [];
for (const { choice, path, hosts } of pairs) opened.push(await open(choice, path, hosts));

for (let round = -1; round < ROUNDS; round++) {
  for (let turn = 0; turn < opened.length; turn++) {
    const pair = opened[(turn + round + opened.length) % opened.length];
    const rate = await pair?.run();
    // The first round warms all up and is not counted.
    if (round >= 0 && rate !== undefined) pair?.rates.push(rate);
  }
}
console.log(`One TCP stream of ${SECONDS} s, ${ROUNDS} interleaved rounds:\n`);
console.log('| Path | auto, Mbit/s | plain, Mbit/s | auto of plain |\n| --- | --- | --- | --- |');
for (const path of PATHS) {
  const [auto = [], plain = []] = PLATFORM_CHOICES.map((choice) => ratesOf(choice, path));
  const ratio = spread(auto.map((rate, round) => rate / (plain[round] ?? rate)));
  console.log(`| ${path} | ${spread(auto, 0)} | ${spread(plain, 0)} | ${ratio} |`);
}

console.log('\nIdle, from the second start on, without wireguard-go:\n');
for (const choice of PLATFORM_CHOICES) console.log(`- ${choice}: ${await idle(choice)}`);

async function open(choice: PlatformChoice, path: Path, names: readonly [string, string]) {
  const env = { MESH_PLATFORM: choice };
  if (path === 'relayed') await lab.host(names[1]).block('udp dport 51820');
  const nodes = await labNodes(lab, plane, names, (node) => node.start([], env));
  const [one, two] = Object.values(nodes) as [LabNode, LabNode];
  const { address } = await one.untilPeer(names[1], (peer) => peer.path === path);
  await two.untilPeer(names[0], (peer) => peer.path === path);
  const run = () => tcpThroughput(one.host, two.host, address, SECONDS);
  return { choice, path, run, rates: [] as number[] };
}

function ratesOf(choice: PlatformChoice, path: Path): number[] {
  return opened.find((pair) => pair.choice === choice && pair.path === path)?.rates ?? [];
}

/** A node with one peer. The first start compiles again what was compiled with the other options. */
async function idle(choice: PlatformChoice): Promise<string> {
  await using lab = await natlab({ hosts: { one: {}, two: {} } });
  await using plane = await startLabPlane(lab);
  const env = { MESH_PLATFORM: choice };
  const { one } = await labNodes(lab, plane, ['one', 'two'], (node) => node.start([], env));
  await one.untilPeer('two', ({ path }) => path === 'direct');
  await one.stop();
  one.start([], env);
  await one.untilPeer('two', ({ path }) => path === 'direct');
  await after(IDLE_MS);
  const { rss, anonymous, pss } = memoryOf((await one.status()).node.pid);
  return `${rss.toFixed(1)} MB resident, ${anonymous.toFixed(1)} of them memory, its share ${pss.toFixed(1)}`;
}
