import { once } from 'node:events';
import type { LabNode } from '../kits/lab/natlab-node.ts';
import { matrix } from './faults.ts';
import { move } from './moves.ts';
import { type Outage, otherOf, untilAsBefore } from './pair.ts';
import { startProbe } from './probe.ts';

/** Of a start of either side: from when both are up. */
const RESTART_MS = 1_000;

const starts: readonly Omit<Outage, 'path'>[] = [
  {
    name: 'the other side goes down and comes up, and is spoken to first',
    limitMs: RESTART_MS,
    isQuick: true,
    async measure({ one, two }) {
      await two.down();
      const probe = startProbe(one);
      await two.up();
      const upAt = performance.now();
      const at = await probe.next();
      await probe.stop();
      return { ms: Math.max(0, at - upAt) };
    },
  },
  {
    name: 'this side goes down and comes up, and speaks first',
    limitMs: RESTART_MS,
    async measure({ one }) {
      await one.down();
      await one.up();
      return firstAnswer(one);
    },
  },
  {
    name: 'both start at once, and both speak before there is a path',
    limitMs: RESTART_MS,
    async measure({ one, two }) {
      await Promise.all([one.down(), two.down()]);
      const probes = [startProbe(one), startProbe(two)];
      const firsts = probes.map((probe) => probe.next());
      await Promise.all([one.up(), two.up()]);
      const upAt = performance.now();
      const at = Math.max(...(await Promise.all(firsts)));
      for (const probe of probes) await probe.stop();
      return { ms: Math.max(0, at - upAt) };
    },
  },
  {
    name: 'the control plane restarts, with bus and relay',
    limitMs: RESTART_MS,
    async measure({ one, plane }) {
      const probe = startProbe(one);
      await probe.next();
      await plane.stop();
      await plane.start();
      const upAt = performance.now();
      const at = await probe.next();
      await probe.stop();
      return { ms: Math.max(0, at - upAt) };
    },
  },
  {
    name: 'this side moves to another network, under a TCP stream: its longest stall',
    limitMs: 3_000,
    measure: async ({ lab, one, two }) => ({ ms: await stallOf(one, two, () => move(lab, 'one', 'yard')) }),
  },
];

const alone: Omit<Outage, 'path'> = {
  name: 'both restart while control plane, bus and STUN are away',
  limitMs: 5_000,
  isQuick: true,
  async measure({ one, two, plane }) {
    await plane.stop();
    await Promise.all([one.down(), two.down()]);
    await one.up();
    await two.up();
    return firstAnswer(one);
  },
};

/** What befalls more than one part, or is measured otherwise than by what a fault takes away. */
const more: readonly Outage[] = [
  ...starts.map((start) => ({ ...start, path: 'direct' as const })),
  ...starts.map((start) => ({ ...start, path: 'relayed' as const, isQuick: false })),
  { ...alone, path: 'direct' },
  { ...alone, path: 'relayed', isRelayApart: true, isQuick: false },
  {
    name: 'this side moves to another network, until the path is direct again',
    path: 'direct',
    limitMs: 3_000,
    async measure(pair) {
      const { lab, one } = pair;
      const probe = startProbe(one);
      await probe.next();
      const before = await one.untilPeer('two', ({ path }) => path === 'direct');
      await move(lab, 'one', 'yard');
      const movedAt = performance.now();
      await one.untilPeer('two', ({ path, since }) => path === 'direct' && since !== before.since);
      await untilAsBefore(pair);
      const ms = performance.now() - movedAt;
      await probe.stop();
      return { ms };
    },
  },
];

/** All that is promised of how long a pair of nodes is without an answer. */
export const outages: readonly Outage[] = [...matrix, ...more];

async function firstAnswer(node: LabNode) {
  const startedAt = performance.now();
  const probe = startProbe(node);
  const at = await probe.next();
  await probe.stop();
  return { ms: at - startedAt };
}

/** Of iperf3, between two reports. */
const STREAM_LOOK_MS = 100;

/** @returns the longest time in which a TCP stream carried nothing, in milliseconds */
async function stallOf(one: LabNode, two: LabNode, happens: () => Promise<void>): Promise<number> {
  const server = two.host.spawn('iperf3', ['-s', '-1', '--forceflush', '-B', otherOf(one)]);
  if (server.stdout) await once(server.stdout, 'data');
  const args = ['-c', otherOf(one), '-R', '-t', '8', '-i', '0.1', '-b', '20M', '--forceflush'];
  const client = one.host.spawn('iperf3', args);
  let moving: Promise<void> | undefined;
  let stalled = 0;
  let longest = 0;
  let rest = '';
  client.stdout?.on('data', (data: Buffer) => {
    const lines = (rest + data.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, bytes] = /^\[ *\d+\] +[\d.]+-[\d.]+ +sec +([\d.]+) +\w?Bytes .*\/sec *$/.exec(line) ?? [];
      if (bytes === undefined) continue;
      stalled = Number(bytes) === 0 ? stalled + STREAM_LOOK_MS : 0;
      longest = Math.max(longest, stalled);
      moving ??= happens();
    }
  });
  await once(client, 'exit');
  server.kill('SIGKILL');
  if (moving === undefined) throw new Error('The stream carried nothing at all.');
  await moving;
  return longest;
}
