import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import type { FirewallEntry, FirewallRules } from '../core/network/graph.ts';
import { type LabHost, natlab } from '../test/natlab.ts';
import { type LabParts, labParts, tunnelPair } from '../test/natlab-parts.ts';
import { tcpFifths } from './node/throughput.ts';
import { machine, median, spread } from './report.ts';

/**
 * The firewall of a node in namespaces of its own: how long a replacement takes until it is in force, what looking after
 * it costs an idle agent, what it costs one packet, and the throughput of a tunnel. Run as root: node bench/firewall.ts
 * [--quick] [--only replace|packets|throughput]
 */
const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } } });
const measures = { replace: measureReplacement, packets: measurePackets, throughput: measureThroughput };
if (values.only !== undefined && !Object.hasOwn(measures, values.only)) {
  throw new Error(`--only takes ${Object.keys(measures).join(', ')}, not ${values.only}.`);
}
const ROUNDS = values.quick ? 1 : 7;
/** A figure of a round is the median of the fifths of a second of two such streams in each pass. */
const PASSES = values.quick ? 1 : 2;
const STREAM_SECONDS = values.quick ? 1 : 3;
const CHECKS = values.quick ? 10 : 50;
const SIZES = [100, 1_000, 10_000];
/** How many ports an entry names, and by how many different ones entries begin. */
const KINDS = {
  'one port each': { span: 0, kinds: 500 },
  'a range of ports each': { span: 1_000, kinds: 500 },
  'a range that no other has': { span: 1_000, kinds: 50_000 },
} as const;
type Kind = keyof typeof KINDS;
const KIND_NAMES = Object.keys(KINDS) as Kind[];

/** The least that a stateful firewall can be. */
const ONE_STATEFUL_RULE = `table inet by_hand {
 chain input {
  type filter hook input priority filter; policy accept;
  ct state invalid drop
 }
}
`;

/** `count` entries of as many peers; the last, which is found last, is the one that packets are measured with. */
function entries(count: number, kind: Kind, protocol: 'TCP' | 'UDP', peer: string): FirewallEntry[] {
  const { span, kinds } = KINDS[kind];
  const entry = (address: string, from: number) => ({ cidr: `${address}/32`, protocol, from, to: from + span });
  const others = Array.from({ length: count - 1 }, (_, index) =>
    entry(`10.${90 + (index >> 14)}.${(index >> 6) & 255}.${(index & 63) + 1}`, 6_000 + (index % kinds)),
  );
  return [...others, entry(peer, 5_201)];
}

/** By name, what puts it on a host in place of the one before and waits until nothing looks at it: that is no cost of packets. */
function firewallsOf(host: LabHost, parts: LabParts, rules: (count: number, kind: Kind) => FirewallRules) {
  const nothing = async () => {
    await parts.closeFirewall();
    await host.nft('add table inet by_hand\ndelete table inet by_hand\n');
  };
  const ours = (count: number, kind: Kind) => async () => {
    await nothing();
    await parts.apply(rules(count, kind), 0);
    await parts.restore();
  };
  const byHand = async () => {
    await nothing();
    await host.nft(ONE_STATEFUL_RULE);
  };
  return {
    none: nothing,
    'none, once more': nothing,
    'one stateful rule by hand': byHand,
    'one entry': ours(1, 'one port each'),
    ...Object.fromEntries(KIND_NAMES.map((kind) => [`10,000, ${kind}`, ours(10_000, kind)])),
  };
}

await using lab = await natlab({ hosts: { a: {}, b: {}, c: {} } });
const [a, b, c] = [lab.host('a'), lab.host('b'), lab.host('c')];
const ends = await tunnelPair({ a, b }, '10.96.0.0/16');
const policed = ends.b.parts;
const toPolice = (count: number, kind: Kind): FirewallRules => ({
  in: entries(count, kind, 'TCP', '10.96.0.1'),
  out: [],
});

console.log(`${machine()}, tunnel: ${ends.a.opened.kind}\n`);
for (const [name, measure] of Object.entries(measures)) {
  if (values.only === undefined || values.only === name) await measure();
}
await Promise.all([ends.a.parts.close(), policed.close()]);

async function measureReplacement(): Promise<void> {
  console.log('| Entries | kind | in force after, ms | processor time, ms | of one check, ms |');
  console.log('| ---: | --- | ---: | ---: | ---: |');
  for (const count of SIZES) {
    for (const kind of KIND_NAMES) {
      const some = toPolice(count, kind);
      await policed.apply(some, 0);
      const took = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        // Waits until the look at what was put last is over.
        await policed.restore();
        took.push(await policed.apply(some, 0));
      }
      const elapsed = spread(
        took.map((one) => one.elapsedMs),
        0,
      );
      const processor = spread(
        took.map((one) => one.processorMs),
        0,
      );
      const check = (await policed.restoreCost(CHECKS)).toFixed(1);
      console.log(`| ${count} | ${kind} | ${elapsed} | ${processor} | ${check} |`);
    }
  }
}

/** Over loopback of one host, to and fro: each packet passes `output` and `input`; on a tunnel, one of them. */
async function measurePackets(): Promise<void> {
  const own = labParts(c, 'lo');
  for (const address of ['10.96.0.1', '10.96.0.2'])
    await c.must('ip', ['address', 'add', `${address}/32`, 'dev', 'lo']);
  const meter = await packetMeter(c);
  // As a peer, and as who is reached: the same connection at both its ends.
  const atBothEnds = (count: number, kind: Kind): FirewallRules => ({
    in: entries(count, kind, 'UDP', '10.96.0.1'),
    out: entries(count, kind, 'UDP', '10.96.0.2'),
  });
  const firewalls = firewallsOf(c, own, atBothEnds);
  const figures = new Map<string, number[]>(Object.keys(firewalls).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, put] of Object.entries(firewalls)) {
      await put();
      figures.get(name)?.push(await meter());
    }
  }
  await own.closeFirewall();
  // The least: a busy processor makes packets slower, nothing makes them faster.
  const least = (name: string) => Math.min(...(figures.get(name) ?? []));
  console.log(`| Firewall | one packet, ns, least of ${ROUNDS} rounds | more than none |`);
  console.log('| --- | ---: | ---: |');
  for (const name of figures.keys()) {
    console.log(`| ${name} | ${least(name).toFixed(0)} | ${(least(name) - least('none')).toFixed(0)} |`);
  }
  console.log();
}

/** @returns what measures one packet over loopback of a host, in nanoseconds */
async function packetMeter(host: LabHost): Promise<() => Promise<number>> {
  const program = [process.execPath, path.join(import.meta.dirname, 'firewall/packets.ts')];
  // On one core: the same packet costs half as much again when its program moves about.
  const { stdin, stdout } = host.spawn('taskset', ['-c', '1', ...program]);
  if (!stdin || !stdout) throw new Error('A program without stdin and stdout cannot measure.');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return async () => {
    stdin.write('\n');
    const { value, done } = await lines.next();
    if (done) throw new Error('The program that measures packets ended: a firewall let none pass.');
    return Number(value);
  };
}

async function measureThroughput(): Promise<void> {
  const firewalls = Object.entries(firewallsOf(b, policed, toPolice));
  const rounds = new Map<string, number[][]>(firewalls.map(([name]) => [name, []]));
  // There and back: a machine that becomes slower or faster does so for each alike.
  const thereAndBack = [...firewalls, ...firewalls.toReversed()];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const measured of rounds.values()) measured.push([]);
    for (const [name, put] of Array.from({ length: PASSES }, () => thereAndBack).flat()) {
      await put();
      const fifths = await tcpFifths(a, b, '10.96.0.2', STREAM_SECONDS);
      rounds
        .get(name)
        ?.at(-1)
        ?.push(...fifths);
    }
  }
  const without = rounds.get('none') ?? [];
  console.log('| Firewall | TCP through the tunnel, Mbit/s | of none, all rounds | of none, each round |');
  console.log('| --- | ---: | ---: | ---: |');
  for (const [name, measured] of rounds) {
    const medians = measured.map((fifths) => median(fifths));
    const ofAll = (median(measured.flat()) / median(without.flat())).toFixed(2);
    const ratios = medians.map((value, round) => value / median(without[round] ?? []));
    console.log(`| ${name} | ${spread(medians, 0)} | ${ofAll} | ${spread(ratios)} |`);
  }
  console.log(
    `\nMedians of ${ROUNDS} rounds, lowest and highest in brackets; of all rounds: of all fifths of a second.`,
  );
}
