import { setTimeout as after } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Natlab, natlab } from '../test/kits/lab/natlab.ts';
import { type LabNode, labNodes } from '../test/kits/lab/natlab-node.ts';
import { type LabPlane, startLabPlane } from '../test/kits/lab/natlab-plane.ts';
import { freshKey } from '../test/kits/plane/devices.ts';
import { firstEcho, firstPacket, settled } from './node/first-packet.ts';
import { plainWireGuard } from './node/plain-wireguard.ts';
import { cpuSeconds, memoryOf } from './node/process.ts';
import { tcpThroughput } from './node/throughput.ts';
import { machine, median, spread, wireguardGo } from './report.ts';

/**
 * The node on real tunnels between network namespaces, as root:
 * node bench/node.ts [--quick] [--only throughput|firstPackets|upgrade|manyPeers]
 */
const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } } });
const { quick, only } = values;
const parts = { throughput, firstPackets, upgrade, manyPeers };
if (only !== undefined && !Object.hasOwn(parts, only)) {
  throw new Error(`--only takes ${Object.keys(parts).join(', ')}, not ${only}.`);
}
const ROUNDS = quick ? 2 : 7;
const SECONDS = quick ? 1 : 2;
const IDLE_SECONDS = quick ? 5 : 30;
const PEERS = 200;
const LIVE = 3;

console.log(`${machine()}, ${wireguardGo()}\n`);
for (const [name, part] of Object.entries(parts)) {
  if (only === undefined || only === name) await part();
}

/** Up and direct, or relayed where the direct path is blocked. */
async function pair(lab: Natlab, plane: LabPlane, names: readonly [string, string], path: 'direct' | 'relayed') {
  if (path === 'relayed') await lab.host(names[1]).block('udp dport 51820');
  const [one, two] = Object.values(await labNodes(lab, plane, names)) as [LabNode, LabNode];
  const { address } = await one.untilPeer(names[1], (peer) => peer.path === path);
  await two.untilPeer(names[0], (peer) => peer.path === path);
  return { one, two, address };
}

async function throughput(): Promise<void> {
  await using lab = await natlab({
    hosts: Object.fromEntries(['p1', 'p2', 'd1', 'd2', 'r1', 'r2'].map((name) => [name, { family: 'ipv4' } as const])),
  });
  await using plane = await startLabPlane(lab);
  await plainWireGuard(lab.host('p1'), lab.host('p2'));
  const direct = await pair(lab, plane, ['d1', 'd2'], 'direct');
  const relayed = await pair(lab, plane, ['r1', 'r2'], 'relayed');
  const paths = {
    plain: () => tcpThroughput(lab.host('p1'), lab.host('p2'), '10.200.0.2', SECONDS),
    direct: () => tcpThroughput(lab.host('d1'), lab.host('d2'), direct.address, SECONDS),
    relayed: () => tcpThroughput(lab.host('r1'), lab.host('r2'), relayed.address, SECONDS),
  };
  const rates = { plain: [] as number[], direct: [] as number[], relayed: [] as number[] };
  for (let round = -1; round < ROUNDS; round++) {
    const order = (['plain', 'direct', 'relayed'] as const).map(
      (_, index, all) => all[(index + round + 3) % 3] ?? 'plain',
    );
    for (const path of order) {
      const rate = await paths[path]();
      // The first round warms all up and is not counted.
      if (round >= 0) rates[path].push(rate);
    }
  }
  const ratio = (of: number[], to: number[]) => spread(of.map((rate, round) => rate / (to[round] ?? rate)));
  console.log(`One TCP stream of ${SECONDS} s, ${ROUNDS} interleaved rounds:\n`);
  console.log('| Path | Mbit/s | ratio | target |\n| --- | --- | --- | --- |');
  console.log(`| wireguard-go set up by hand | ${spread(rates.plain, 0)} | | |`);
  console.log(`| mesh, direct | ${spread(rates.direct, 0)} | ${ratio(rates.direct, rates.plain)} of plain | 0.95 |`);
  console.log(
    `| mesh, relayed | ${spread(rates.relayed, 0)} | ${ratio(rates.relayed, rates.direct)} of direct | 0.6 |\n`,
  );
  await direct.one.stop();
  direct.one.start();
  await direct.one.untilPeer('d2', (peer) => peer.path === 'direct');
  await idle(direct.one);
  console.log(`After the relayed load: ${memoryText((await relayed.one.status()).node.pid)}.\n`);
}

/** A node that was just started from compiled code, as after each start but the first. */
async function idle(node: LabNode): Promise<void> {
  const { pid } = (await node.status()).node;
  const began = cpuSeconds(pid);
  await after(IDLE_SECONDS * 1_000);
  const percent = ((cpuSeconds(pid) - began) / IDLE_SECONDS) * 100;
  console.log(`Idle agent: ${percent.toFixed(2)} % of a core over ${IDLE_SECONDS} s (target 1),`);
  console.log(`${memoryText(pid)}, without wireguard-go (target 80).\n`);
}

function memoryText(pid: number): string {
  const { rss, anonymous, pss } = memoryOf(pid);
  const mb = (value: number) => `${value.toFixed(0)} MB`;
  return `${mb(rss)} resident, ${mb(anonymous)} of them memory and ${mb(rss - anonymous)} files, its share ${mb(pss)}`;
}

async function firstPackets(): Promise<void> {
  await using lab = await natlab({
    routers: { home: { nat: 'easy' }, cafe: { nat: 'easy' }, office: { nat: 'hard' }, campus: { nat: 'hard' } },
    hosts: {
      here: { behind: 'home' },
      lan: { behind: 'home' },
      nat: { behind: 'cafe' },
      walled: { behind: 'office' },
      far: { behind: 'campus' },
    },
  });
  await using plane = await startLabPlane(lab);
  const { here, walled } = await labNodes(lab, plane, ['here', 'walled']);
  console.log(`From \`mesh up\` to the first answered packet, ${ROUNDS} rounds:\n`);
  console.log('| Between | s | target |\n| --- | --- | --- |');
  for (const [what, name, peer, target] of [
    ['the same LAN', 'lan', here, 3],
    ['two NATs that keep ports', 'nat', here, 8],
    ['two NATs that draw ports: the relay', 'far', walled, 15],
  ] as const) {
    const node = await settled(lab, plane, name);
    const took: number[] = [];
    for (let round = 0; round < ROUNDS; round++) took.push((await firstPacket(node, peer)) / 1_000);
    console.log(`| ${what} | ${spread(took)} | ${target} |`);
  }
  console.log('');
}

/** A ping each 5 ms from the first moment on the relay until well after the direct path is found. */
async function upgrade(): Promise<void> {
  await using lab = await natlab({ hosts: { one: {}, two: {} } });
  await using plane = await startLabPlane(lab);
  const lost: number[] = [];
  const { one, two, address } = await pair(lab, plane, ['one', 'two'], 'relayed');
  for (let round = 0; round < ROUNDS; round++) {
    if (round > 0) {
      await lab.host('two').block('udp dport 51820');
      await one.untilPeer('two', ({ path }) => path === 'relayed');
      await two.untilPeer('one', ({ path }) => path === 'relayed');
      await one.host.ping(address, { count: 5 });
    }
    const pings = one.host.ping(address, { count: 1_500, intervalMs: 5 });
    await lab.host('two').unblock();
    await one.mesh(['ping', 'two', '--until-direct', '--timeout', '30']);
    await one.untilPeer('two', ({ path }) => path === 'direct');
    const { sent, received } = await pings;
    lost.push(sent - received);
  }
  console.log(
    `Relay to direct under a ping each 5 ms: ${lost.join(', ')} lost of 1,500 in ${ROUNDS} rounds (target 0).\n`,
  );
}

async function manyPeers(): Promise<void> {
  await using lab = await natlab({ hosts: { one: {}, two: {}, three: {} } });
  await using plane = await startLabPlane(lab);
  const token = await plane.joinToken(PEERS);
  for (let peer = LIVE; peer < PEERS; peer++) {
    const device = { token, name: `silent-${peer}`, publicKey: freshKey().publicKey };
    await plane.call('POST', '/api/v1/devices/register', { body: device });
  }
  await labNodes(lab, plane, ['one', 'two']);
  const three = await settled(lab, plane, 'three');
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now();
    three.start();
    const peers = ['one', 'two'].map(async (name) => {
      const { address } = await three.untilPeer(name, ({ path }) => path !== null);
      await firstEcho(three.host, address);
    });
    await Promise.all(peers);
    took.push((performance.now() - began) / 1_000);
    await three.stop();
  }
  console.log(
    `\`mesh up\` to packets with both live peers, ${PEERS} peers in the graph: ${spread(took)} s (target 5).`,
  );
  console.log(`Median ${median(took).toFixed(2)} s.`);
}
