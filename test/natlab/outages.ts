import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type LabSpec, type Natlab, natlab } from '../kits/lab/natlab.ts';
import { type LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { labParts } from '../kits/lab/natlab-parts.ts';
import { type LabPlane, startLabPlane } from '../kits/lab/natlab-plane.ts';

/** What happens to a pair of nodes that use their path, and how long that may cost them. */
export interface Outage {
  readonly name: string;
  readonly spec: LabSpec;
  readonly path: 'direct' | 'relayed';
  /** The relay is no part of the control plane. */
  readonly isRelayApart?: boolean;
  readonly limitMs: number;
  /** @returns milliseconds without an answer, from when an answer could have come */
  measure(pair: Pair): Promise<number>;
}

export interface Pair {
  readonly lab: Natlab;
  readonly plane: LabPlane;
  readonly one: LabNode;
  readonly two: LabNode;
}

const ADDRESSES = { one: '10.96.0.1', two: '10.96.0.2' } as const;
const behind = (nat: 'easy' | 'hard'): LabSpec => ({
  routers: { home: { nat }, cafe: { nat }, yard: { nat } },
  hosts: { one: { behind: 'home' }, two: { behind: 'cafe' } },
});
const DIRECT = { spec: behind('easy'), path: 'direct' } as const;
const RELAYED = { spec: behind('hard'), path: 'relayed' } as const;
const RELAY_TOKEN = 'relay-token-of-the-outages';
/** Of a start of either side: from when both are up. */
const RESTART_MS = 1_000;

const restarts: readonly Omit<Outage, 'spec' | 'path'>[] = [
  {
    name: 'the other side goes down and comes up',
    limitMs: RESTART_MS,
    measure: ({ one, two }) => untilAnswered(one, two, () => two.down()),
  },
  {
    name: 'the other agent and its WireGuard are killed and started',
    limitMs: RESTART_MS,
    measure: ({ one, two }) => untilAnswered(one, two, () => kill(two)),
  },
  {
    name: 'this side goes down and comes up',
    limitMs: RESTART_MS,
    measure: async ({ one }) => {
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
      return Math.max(0, at - upAt);
    },
  },
  {
    name: "the other side's wireguard-go is killed, and its agent starts another",
    // With the start of wireguard-go, a firewall and the rules of the port.
    limitMs: 2 * RESTART_MS,
    async measure({ one, two }) {
      const probe = startProbe(one);
      await probe.next();
      const [pid] = readFileSync(`/var/run/mesh/wireguard-${two.interfaceName}.pid`, 'utf8').split(' ');
      process.kill(Number(pid), 'SIGKILL');
      return outageOf(probe);
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
      return Math.max(0, at - upAt);
    },
  },
];

const alone: Omit<Outage, 'spec' | 'path'> = {
  name: 'both restart while control plane, bus and STUN are away',
  limitMs: 5_000,
  async measure({ one, two, plane }) {
    await plane.stop();
    await Promise.all([one.down(), two.down()]);
    await one.up();
    await two.up();
    return firstAnswer(one);
  },
};

const moves: readonly Omit<Outage, 'spec' | 'path'>[] = [
  {
    name: 'this side moves to another network, with a ping each 20 ms',
    limitMs: 1_000,
    async measure({ lab, one }) {
      const probe = startProbe(one);
      await probe.next();
      await move(lab, 'one', 'yard');
      return outageOf(probe);
    },
  },
];

/** Each at any pair of nodes: those of one path, and those of the other. */
export const outages: readonly Outage[] = [
  ...[DIRECT, RELAYED].flatMap((way) => restarts.map((restart) => ({ ...restart, ...way }))),
  ...[DIRECT, RELAYED].flatMap((way) => moves.map((moved) => ({ ...moved, ...way }))),
  {
    ...DIRECT,
    name: 'this side moves to another network, until the path is direct again',
    limitMs: 3_000,
    async measure({ lab, one, two }) {
      const probe = startProbe(one);
      await probe.next();
      const before = await one.untilPeer('two', ({ path }) => path === 'direct');
      await move(lab, 'one', 'yard');
      const movedAt = performance.now();
      await one.untilPeer('two', ({ path, since }) => path === 'direct' && since !== before.since);
      await two.untilPeer('one', ({ path }) => path === 'direct');
      const ms = performance.now() - movedAt;
      await probe.stop();
      return ms;
    },
  },
  ...[DIRECT, RELAYED].map((way) => ({
    ...way,
    name: 'this side moves to another network, under a TCP stream',
    limitMs: 3_000,
    measure: ({ lab, one, two }: Pair) => stallOf(one, two, () => move(lab, 'one', 'yard')),
  })),
  { ...alone, ...DIRECT },
  { ...alone, ...RELAYED, isRelayApart: true },
  {
    ...RELAYED,
    name: 'the control plane restarts, without the relay',
    isRelayApart: true,
    limitMs: 500,
    async measure({ one, plane }) {
      const probe = startProbe(one);
      await probe.next();
      await plane.stop();
      await plane.start();
      await one.until(({ control }) => control.bus.isUp);
      await probe.next();
      await probe.stop();
      return probe.longestMs;
    },
  },
];

/** Two nodes whose path is open and in use. */
export async function withPair<T>(outage: Outage, use: (pair: Pair) => Promise<T>): Promise<T> {
  const { spec, path, isRelayApart = false } = outage;
  await using lab = await natlab(isRelayApart ? { ...spec, hosts: { ...spec.hosts, relay: {} } } : spec);
  await using plane = await startLabPlane(lab, isRelayApart ? await relayApart(lab) : {});
  const { one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up());
  await one.untilPeer('two', (peer) => peer.path === path);
  await two.untilPeer('one', (peer) => peer.path === path);
  for (const node of [one, two]) {
    if (!(await node.host.reaches(otherOf(node)))) throw new Error(`${node.host.name} does not reach the other.`);
  }
  return await use({ lab, plane, one, two });
}

/** @returns the settings of a control plane for it */
async function relayApart(lab: Natlab): Promise<Readonly<Record<string, string>>> {
  const host = lab.host('relay');
  await labParts(host).serveRelayAndStun(RELAY_TOKEN);
  const where = `${host.address}:6266`;
  return { MESH_RELAY_LISTEN: 'off', MESH_RELAY_ADVERTISE_URL: where, MESH_LRP_AUTH_TOKEN: RELAY_TOKEN };
}

/** A host leaves its network for that of another router, as a laptop does: what it had is gone first. */
async function move(lab: Natlab, name: string, router: string): Promise<void> {
  const [host, to] = [lab.host(name), lab.host(router)];
  const lan = (await to.must('ip', ['-o', '-4', 'address', 'show', 'dev', 'br0'])).match(/192\.168\.\d+/)?.[0];
  await host.must('ip', ['link', 'delete', 'eth0']);
  await host.must('ip', ['link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'moved', 'netns', to.namespace]);
  await to.must('ip', ['link', 'set', 'moved', 'master', 'br0', 'up']);
  await host.must('ip', ['address', 'add', `${lan}.77/24`, 'dev', 'eth0']);
  await host.must('ip', ['link', 'set', 'eth0', 'up']);
  await host.must('ip', ['route', 'add', 'default', 'via', `${lan}.1`]);
}

/** @returns the longest time in which a TCP stream carried nothing, in milliseconds */
async function stallOf(one: LabNode, two: LabNode, happens: () => Promise<void>): Promise<number> {
  const server = two.host.spawn('iperf3', ['-s', '-1', '--forceflush', '-B', ADDRESSES.two]);
  if (server.stdout) await once(server.stdout, 'data');
  const args = ['-c', ADDRESSES.two, '-R', '-t', '8', '-i', '0.1', '-b', '20M', '--forceflush'];
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

/** One speaks all the time, first into what is left of the old session. @returns from when the other is up */
async function untilAnswered(one: LabNode, two: LabNode, end: () => Promise<unknown>): Promise<number> {
  await end();
  const probe = startProbe(one);
  await two.up();
  const upAt = performance.now();
  const at = await probe.next();
  await probe.stop();
  return Math.max(0, at - upAt);
}

async function firstAnswer(node: LabNode): Promise<number> {
  const startedAt = performance.now();
  const probe = startProbe(node);
  const at = await probe.next();
  await probe.stop();
  return at - startedAt;
}

/** Ends a probe once all is as before. @returns the longest time without an answer */
async function outageOf(probe: ReturnType<typeof startProbe>): Promise<number> {
  await probe.gap();
  await probe.stop();
  return probe.longestMs;
}

async function kill(node: LabNode): Promise<void> {
  process.kill((await node.status()).node.pid, 'SIGKILL');
}

function otherOf({ host }: LabNode): string {
  return host.name === 'one' ? ADDRESSES.two : ADDRESSES.one;
}

const PROBE_MS = 20;
/** Of iperf3, between two reports. */
const STREAM_LOOK_MS = 100;
/** No delay of the machine, and how many answers show that it is over. */
const GAP_MS = 300;
const ANSWERS_AFTER = 100;
const PATIENCE_MS = 60_000;

/** Echoes from a node to the other, and when each was answered. */
function startProbe(node: LabNode) {
  const child = node.host.spawn('ping', ['-n', '-i', `${PROBE_MS / 1_000}`, otherOf(node)]);
  const answers: number[] = [];
  let wake = () => {};
  child.stdout?.on('data', (data: Buffer) => {
    const at = performance.now();
    for (const _ of data.toString().matchAll(/bytes from/g)) answers.push(at);
    wake();
  });
  return {
    /** When the next answer comes. */
    async next(): Promise<number> {
      const known = answers.length;
      const until = performance.now() + PATIENCE_MS;
      const late = setTimeout(() => wake(), PATIENCE_MS);
      while (answers.length === known) {
        if (performance.now() >= until) throw new Error(`${node.host.name} got no answer for a minute.`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      clearTimeout(late);
      return answers[known] ?? until;
    },
    /** Resolves once there was a gap, and answers after it. */
    async gap(): Promise<void> {
      while ((await this.next()) && this.longestMs < GAP_MS);
      for (let answered = 0; answered < ANSWERS_AFTER; answered += 1) await this.next();
    },
    /** The longest time without an answer so far. */
    get longestMs(): number {
      return Math.max(0, ...answers.slice(1).map((at, index) => at - (answers[index] ?? at)));
    },
    async stop(): Promise<void> {
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      await ended;
    },
  };
}
