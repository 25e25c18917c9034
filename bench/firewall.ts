import { parseArgs } from 'node:util';
import type { FirewallEntry, FirewallRules } from '../core/network/graph.ts';
import { natlab } from '../test/natlab.ts';
import { tunnelPair } from '../test/natlab-parts.ts';
import { tcpThroughput } from './node/throughput.ts';
import { machine, median, spread } from './report.ts';

/**
 * The firewall of a node in namespaces of its own: how long a replacement takes until it is in force, what it costs the
 * packets of a tunnel, and what looking after it costs an idle agent. Run as root: node bench/firewall.ts
 * [--quick] [--only replace|throughput]
 */
const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } } });
const ROUNDS = values.quick ? 1 : 7;
const SECONDS = values.quick ? 1 : 3;
const CHECKS = values.quick ? 10 : 50;
const SIZES = [100, 1_000, 10_000];
/** How many ports an entry names, and by how many different ones entries begin. */
const KINDS = {
  'one port each': { span: 0, kinds: 500 },
  'a range of ports each': { span: 1_000, kinds: 500 },
  'a range that no other has': { span: 1_000, kinds: 50_000 },
} as const;
type Kind = keyof typeof KINDS;

/** The least that a stateful firewall can be. */
const ONE_STATEFUL_RULE = `table inet by_hand {
 chain input {
  type filter hook input priority filter; policy accept;
  ct state invalid drop
 }
}
`;

/** `count` entries of as many peers; the last, which is found last, permits what the throughput is measured with. */
function rules(count: number, kind: Kind): FirewallRules {
  const { span, kinds } = KINDS[kind];
  const entry = (cidr: string, from: number): FirewallEntry => ({ cidr, protocol: 'TCP', from, to: from + span });
  const others = Array.from({ length: count - 1 }, (_, index) =>
    entry(`10.${90 + (index >> 14)}.${(index >> 6) & 255}.${(index & 63) + 1}/32`, 6_000 + (index % kinds)),
  );
  return { in: [...others, entry('10.96.0.1/32', 5_201)], out: [] };
}

await using lab = await natlab({ hosts: { a: {}, b: {} } });
const [a, b] = [lab.host('a'), lab.host('b')];
const ends = await tunnelPair({ a, b }, '10.96.0.0/16');
const policed = ends.b.parts;

console.log(`${machine()}, tunnel: ${ends.a.opened.kind}\n`);
if (values.only !== 'throughput') await measureReplacement();
if (values.only !== 'replace') await measureThroughput();
await Promise.all([ends.a.parts.close(), policed.close()]);

async function measureReplacement(): Promise<void> {
  console.log('| Entries | kind | in force after, ms | processor time, ms | of one check, ms |');
  console.log('| ---: | --- | ---: | ---: | ---: |');
  for (const count of SIZES) {
    for (const kind of Object.keys(KINDS) as Kind[]) {
      const some = rules(count, kind);
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

async function measureThroughput(): Promise<void> {
  const put = {
    none: async () => {},
    'none, once more': async () => {},
    'one stateful rule by hand': () => b.nft(ONE_STATEFUL_RULE),
    'one entry': () => policed.apply(rules(1, 'one port each'), 0),
    '10,000, one port each': () => policed.apply(rules(10_000, 'one port each'), 0),
    '10,000, a range of ports each': () => policed.apply(rules(10_000, 'a range of ports each'), 0),
    '10,000, a range that no other has': () => policed.apply(rules(10_000, 'a range that no other has'), 0),
  };
  const figures = new Map<string, number[]>(Object.keys(put).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, apply] of Object.entries(put)) {
      await policed.closeFirewall();
      await apply();
      // Waits until the look at what was put is over: it is no cost of packets.
      await policed.restore();
      figures.get(name)?.push(await tcpThroughput(a, b, '10.96.0.2', SECONDS));
      if (name === 'one stateful rule by hand') await b.nft('delete table inet by_hand\n');
    }
  }
  const without = figures.get('none') ?? [];
  console.log('| Firewall | TCP through the tunnel, Mbit/s | of none, same round |');
  console.log('| --- | ---: | ---: |');
  for (const [name, measured] of figures) {
    const ratios = measured.map((value, round) => value / (without[round] ?? value));
    console.log(`| ${name} | ${spread(measured, 0)} | ${spread(ratios)} |`);
  }
  console.log(
    `\nMedian of ${ROUNDS} rounds, lowest and highest in brackets; none: median ${median(without).toFixed(0)} Mbit/s.`,
  );
}
