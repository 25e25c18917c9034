import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as after } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { textIn } from '../client/if-readable.ts';
import type { FirewallRules } from '../core/model/graph.ts';
import { type LabHost, natlab } from '../test/kits/lab/natlab.ts';
import { labParts, tunnelPair } from '../test/kits/lab/natlab-parts.ts';
import { entries, firewallsOf, KIND_NAMES, type Kind, NONE } from './firewall/firewalls.ts';
import { type BurstTunnel, tunnelWithBursts } from './firewall/tunnel.ts';
import { machine, meanOf, median, spread, wireguardGo } from './report.ts';

/**
 * The firewall of a node in namespaces of its own: how long a replacement takes until it is in force, what looking after
 * it costs an idle agent, what the programs beside it hold, what it costs one packet, and the throughput of a tunnel. Run as root: node bench/firewall.ts
 * [--quick] [--only replace|guard|packets|throughput]
 */
const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } } });
const measures = {
  replace: measureReplacement,
  guard: measureGuard,
  packets: measurePackets,
  throughput: measureThroughput,
};
if (values.only !== undefined && !Object.hasOwn(measures, values.only)) {
  throw new Error(`--only takes ${Object.keys(measures).join(', ')}, not ${values.only}.`);
}
const ROUNDS = values.quick ? 1 : 7;
const CHECKS = values.quick ? 10 : 50;
const IDLE_MS = values.quick ? 5_000 : 60_000;
const SIZES = [100, 1_000, 10_000];
/** Of a round, with the firewall at either tunnel: turns of four bursts, of which the two in the middle are without. */
const TURNS = values.quick ? 8 : 20;
const BURST_MS = 50;
/** Until the kernel has freed the rules before. */
const AFTER_CHANGE_MS = 300;
const toPolice = (count: number, kind: Kind): FirewallRules => ({
  in: entries(count, kind, 'TCP', '10.96.0.1'),
  out: [],
});

console.log(`${machine()}, ${wireguardGo()}\n`);
for (const [name, measure] of Object.entries(measures)) {
  if (values.only === undefined || values.only === name) await measure();
}

async function measureReplacement(): Promise<void> {
  await using lab = await natlab({ hosts: { a: {}, b: {} } });
  const ends = await tunnelPair({ a: lab.host('a'), b: lab.host('b') }, '10.96.0.0/16');
  const policed = ends.b.parts;
  console.log('| Entries | kind | in force after, ms | processor time, ms | of one check, ms |');
  console.log('| ---: | --- | ---: | ---: | ---: |');
  for (const count of SIZES) {
    for (const kind of KIND_NAMES) {
      const some = toPolice(count, kind);
      await policed.apply(some, 0);
      const took = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        // Waits until the look at what was put last is over.
        await policed.maintain();
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
      const check = (await policed.maintenanceCost(CHECKS)).toFixed(1);
      console.log(`| ${count} | ${kind} | ${elapsed} | ${processor} | ${check} |`);
    }
  }
  console.log();
  await Promise.all([ends.a.parts.close(), policed.close()]);
}

/** The programs that watch and guard an idle firewall: what they hold, and their processor time. */
async function measureGuard(): Promise<void> {
  await using lab = await natlab({ hosts: { a: {} } });
  const [host, parts] = [lab.host('a'), labParts(lab.host('a'), 'eth0')];
  await parts.keepFirewall({ in: entries(100, 'one port each', 'TCP', '10.96.0.1'), out: [] }, 0);
  const pids = (await host.must('ip', ['netns', 'pids', host.namespace])).trim().split('\n').map(Number);
  const programs = pids
    .map((pid) => ({ pid, command: textOf(pid, 'cmdline').replaceAll('\0', ' ').trim() }))
    .filter(({ command }) => /^nft (?:--interactive|monitor)/.test(command));
  const before = programs.map(({ pid }) => ticksOf(pid));
  await after(IDLE_MS);
  console.log(`| Program | own memory (Pss), KiB | resident, KiB | processor time of ${IDLE_MS / 1_000} s, ms |`);
  console.log('| --- | ---: | ---: | ---: |');
  for (const [at, { pid, command }] of programs.entries()) {
    const [, pss] = /^Pss: +(\d+)/m.exec(textOf(pid, 'smaps_rollup')) ?? [];
    const [, resident] = /^VmRSS:\s+(\d+)/m.exec(textOf(pid, 'status')) ?? [];
    console.log(`| ${command} | ${pss} | ${resident} | ${(ticksOf(pid) - (before[at] ?? 0)) * 10} |`);
  }
  console.log();
  await parts.stopKeeping();
}

/** Nothing of a process that has ended. */
function textOf(pid: number, file: string): string {
  return textIn(`/proc/${pid}/${file}`);
}

/** proc(5): utime and stime, in hundredths of a second. */
function ticksOf(pid: number): number {
  const fields = textOf(pid, 'stat')
    .replace(/^.*\) /, '')
    .split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** Over loopback of one address, to and fro: each packet goes out and comes in; on a tunnel, one of both. */
async function measurePackets(): Promise<void> {
  await using lab = await natlab({ hosts: { a: {} } });
  const host = lab.host('a');
  const own = labParts(host, 'lo');
  await host.must('ip', ['address', 'add', '10.96.0.1/32', 'dev', 'lo']);
  const meter = await packetMeter(host);
  // As a peer, and as who is reached: the same connection at both its ends.
  const atBothEnds = (count: number, kind: Kind): FirewallRules => ({
    in: entries(count, kind, 'UDP', '10.96.0.1'),
    out: entries(count, kind, 'UDP', '10.96.0.1'),
  });
  const firewalls = firewallsOf(host, own, atBothEnds);
  const figures = new Map<string, number[]>([...firewalls.keys()].map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, put] of firewalls) {
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
    console.log(`| ${name} | ${least(name).toFixed(0)} | ${(least(name) - least(NONE)).toFixed(0)} |`);
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

/** Two tunnels beside each other, of which either has the firewall in turn: what one has of itself cancels out. */
async function measureThroughput(): Promise<void> {
  await using lab = await natlab({ hosts: { a: {}, b: {}, c: {}, d: {} } });
  const one = await tunnelWithBursts(lab.host('a'), lab.host('b'));
  const other = await tunnelWithBursts(lab.host('c'), lab.host('d'));
  const ofOne = firewallsOf(one.host, one.parts, toPolice);
  const ofOther = firewallsOf(other.host, other.parts, toPolice);
  const names = [...ofOne.keys()].filter((name) => name !== NONE);
  const ofNone = new Map<string, number[]>(names.map((name) => [name, []]));
  const assignments = [
    { policed: one, putOn: ofOne, open: other, takeFrom: ofOther },
    { policed: other, putOn: ofOther, open: one, takeFrom: ofOne },
  ];
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      let product = 1;
      for (const { policed, putOn, open, takeFrom } of assignments) {
        await takeFrom.get(NONE)?.();
        await putOn.get(name)?.();
        await after(AFTER_CHANGE_MS);
        const turns = await takeTurns(policed, open);
        product *= median(turns.map((turn) => turn.policed / turn.open));
        rates.push(...turns.map((turn) => turn.open));
      }
      ofNone.get(name)?.push(Math.sqrt(product));
    }
  }
  await Promise.all([one.close(), other.close()]);
  console.log('| Firewall | throughput, of none | mean and its standard error |\n| --- | ---: | ---: |');
  for (const [name, ratios] of ofNone) {
    const { mean, error } = meanOf(ratios);
    console.log(`| ${name} | ${spread(ratios)} | ${mean.toFixed(3)} ± ${ROUNDS > 1 ? error.toFixed(3) : '?'} |`);
  }
  console.log(
    `\nMedians of ${ROUNDS} rounds, lowest and highest in brackets; none: ${median(rates).toFixed(0)} Mbit/s.`,
  );
}

/** What arrived in two bursts of each, the one's around the other's: a machine that becomes faster does so for both. */
async function takeTurns(policed: BurstTunnel, open: BurstTunnel): Promise<{ policed: number; open: number }[]> {
  const turns = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const first = await policed.burst(BURST_MS);
    const between = [await open.burst(BURST_MS), await open.burst(BURST_MS)];
    const last = await policed.burst(BURST_MS);
    turns.push({ policed: (first + last) / 2, open: ((between[0] ?? 0) + (between[1] ?? 0)) / 2 });
  }
  return turns;
}
