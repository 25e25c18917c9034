import { execFileSync } from 'node:child_process';
import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { LabNode } from '../kits/lab/natlab-node.ts';
import { openToNobody } from '../kits/lab/userspace-node.ts';
import { freshDirectory } from '../kits/process/meshd.ts';
import { hostIn } from '../kits/process/set-clock.ts';
import { move, narrow, readdress, remap } from './moves.ts';
import { type Kind, type Outage, type Pair, untilAsBefore, type Way } from './pair.ts';
import { startProbe } from './probe.ts';

/** One thing that goes wrong, with a pair that pings and has a relay of its own, apart from the control plane. */
interface Fault extends Pick<Outage, 'name' | 'bringUp'> {
  /** Without an answer, once what went wrong is over. */
  readonly limitMs: Readonly<Record<Way, number>>;
  /** Those that each run of the lab has. */
  readonly quick?: readonly Way[];
  /** For a second node in userspace mode: what differs; false where there is no such thing, as wireguard-go of its own. */
  readonly userspace?: false | Partial<Pick<Fault, 'limitMs' | 'quick'>>;
  /** There is no such thing on a node with an interface. */
  readonly isUserspaceOnly?: boolean;
  /** Bytes of an echo. */
  readonly bytes?: number;
  /** Resolves when it is over, as far as the host, or whoever starts programs there, can do that. */
  happens(pair: Pair): Promise<unknown>;
}

/** How long something is stopped or away. */
const AWAY_MS = 5_000;
/** No outage: what a busy machine takes, where both wireguard-go, two agents and the pings share two cores. */
const NONE_MS = 500;
const SECOND_MS = 1_000;
const [NONE, SECOND] = [both(NONE_MS), both(SECOND_MS)];
/** Nobody tells the hosts behind a router that it is another: packets that get lost do. */
const UNTOLD = { direct: 2_000, relayed: 3_000 };
/** With the start of wireguard-go, a firewall and the rules of the port. */
const TUNNEL_ANEW = both(2 * SECOND_MS);
/** Another thread reads and compiles the module of the stack. */
const THREAD_ANEW = both(5 * SECOND_MS);
/** Of an underlay that carries no overlay packet of full size in one piece; the echo is one. */
const [SMALL_MTU, FULL_ECHO] = [1_300, 1_252];
/** Ends the thread of the stack on SIGUSR2. */
const THREAD_ENDER = resolve(import.meta.dirname, '../kits/lab/end-stack-thread.ts');
/** The state of a node and some room, then none. */
const DISK = '256k';

const faults: readonly Fault[] = [
  {
    name: 'agent killed, and started at once',
    limitMs: SECOND,
    quick: ['direct'],
    userspace: { limitMs: TUNNEL_ANEW },
    happens: async ({ two }) => {
      process.kill(await agentOf(two), 'SIGKILL');
      await two.up();
    },
  },
  {
    name: 'agent stopped for 5 s',
    limitMs: SECOND,
    happens: async ({ two }) => stopped(await agentOf(two)),
  },
  {
    name: 'wireguard-go killed; the agent starts another',
    limitMs: TUNNEL_ANEW,
    userspace: false,
    happens: async ({ two }) => process.kill(wireguardOf(two), 'SIGKILL'),
  },
  {
    name: 'wireguard-go stopped for 5 s',
    limitMs: SECOND,
    userspace: false,
    happens: ({ two }) => stopped(wireguardOf(two)),
  },
  {
    name: 'thread of the network stack ended; the agent starts another',
    limitMs: THREAD_ANEW,
    quick: ['direct'],
    isUserspaceOnly: true,
    bringUp: (node) => node.up([], { NODE_OPTIONS: `--import=${THREAD_ENDER}` }),
    happens: async ({ two }) => process.kill(await agentOf(two), 'SIGUSR2'),
  },
  {
    name: 'relay killed, and started at once',
    limitMs: { direct: NONE_MS, relayed: SECOND_MS },
    happens: async ({ relay }) => {
      await relay.kill();
      await relay.start();
    },
  },
  {
    name: 'relay stopped for 5 s',
    limitMs: { direct: NONE_MS, relayed: SECOND_MS },
    happens: ({ relay }) => during((name) => relay.signal(name)),
  },
  {
    name: 'control plane killed, and started at once',
    limitMs: NONE,
    happens: async ({ plane }) => {
      await plane.kill();
      await plane.start();
    },
  },
  {
    name: 'control plane stopped for 5 s',
    limitMs: NONE,
    happens: ({ plane }) => during((name) => plane.signal(name)),
  },
  {
    name: 'bus refuses connections for 5 s',
    limitMs: NONE,
    happens: async ({ lab, one, two }) => {
      const plane = lab.host('plane');
      const refuse = 'tcp dport 4222 reject with tcp reset';
      await plane.nft(`table inet lab_bus {\nchain in { type filter hook input priority -200; ${refuse}; }\n}\n`);
      for (const node of [one, two]) await node.until(({ control }) => !control.bus.isUp);
      await after(AWAY_MS);
      await plane.nft('delete table inet lab_bus\n');
    },
  },
  {
    name: 'bus silent for 5 s',
    limitMs: NONE,
    happens: async ({ lab }) => {
      await lab.host('plane').block('tcp dport 4222');
      await after(AWAY_MS);
      await lab.host('plane').unblock();
    },
  },
  { name: 'another address in the same network', limitMs: SECOND, happens: ({ two }) => readdress(two.host) },
  {
    name: 'another network',
    limitMs: SECOND,
    quick: ['relayed'],
    happens: ({ lab }) => move(lab, 'two', 'yard'),
  },
  {
    name: 'another address of the NAT, its mappings gone',
    limitMs: UNTOLD,
    happens: ({ lab }) => remap(lab.host('cafe')),
  },
  {
    name: `MTU of the underlay ${SMALL_MTU}, under echoes of full size`,
    limitMs: NONE,
    bytes: FULL_ECHO,
    happens: ({ lab, two }) => narrow(lab.host('cafe'), two.host, SMALL_MTU),
  },
  ...['+1h', '-1h'].flatMap(clocks),
  {
    name: 'disk full, and the control plane restarted',
    limitMs: NONE,
    bringUp: onSmallDisk,
    happens: async ({ plane, two }) => {
      await two.host.must('sh', ['-c', 'cat /dev/zero > "$1/rest" 2>&- || true', 'sh', two.directory]);
      await plane.stop();
      await plane.start();
    },
  },
  {
    name: "host's own firewall reloaded",
    limitMs: NONE,
    happens: ({ two }) =>
      two.host.nft('flush ruleset\ntable inet filter {\nchain input { type filter hook input priority filter; }\n}\n'),
  },
];

/** Each by either path, to either kind of node. */
export const matrix: readonly Outage[] = (['root', 'userspace'] as const).flatMap((kind) =>
  faults
    .filter(({ isUserspaceOnly = false, userspace }) => (kind === 'root' ? !isUserspaceOnly : userspace !== false))
    .flatMap((fault) => (['direct', 'relayed'] as const).map((path) => outageOf(fault, kind, path))),
);

function outageOf(fault: Fault, kind: Kind, path: Way): Outage {
  const {
    name,
    bringUp,
    limitMs,
    quick = [],
    bytes,
    happens,
  } = {
    ...fault,
    ...(kind === 'userspace' && fault.userspace),
  };
  return {
    ...{ name, path, kind, isRelayApart: true, limitMs: limitMs[path], isQuick: quick.includes(path) },
    ...(bringUp && { bringUp }),
    measure: (pair) => silenceOf(pair, () => happens(pair), bytes),
  };
}

/** How many answers show that it is over. */
const ANSWERS_AFTER = 100;

async function silenceOf(pair: Pair, happens: () => Promise<unknown>, bytes?: number) {
  const probe = startProbe(pair.one, bytes);
  await probe.answered(10);
  const beganAt = performance.now();
  await happens();
  const overAt = performance.now();
  await probe.answered(ANSWERS_AFTER);
  await untilAsBefore(pair);
  await probe.answered(ANSWERS_AFTER);
  await probe.stop();
  return { ms: probe.longestSince(overAt), wholeMs: probe.longestSince(beganAt) };
}

/** The other node's agent sees the time of a file. */
function clocks(offset: string): Fault[] {
  let clock: ReturnType<typeof hostIn> | undefined;
  const bringUp = async (node: LabNode) => {
    if (node.host.name !== 'two') return node.up();
    const directory = freshDirectory();
    openToNobody(directory);
    clock = hostIn(directory);
    return node.up([], clock.env);
  };
  const set = async () => {
    clock?.set(offset);
    await after(AWAY_MS);
  };
  const direction = offset.startsWith('+') ? 'forward' : 'back';
  return [
    { name: `clock set ${direction} by 1 h`, limitMs: NONE, bringUp, happens: set },
    {
      name: `clock set ${direction} by 1 h, agent killed and started`,
      limitMs: SECOND,
      userspace: { limitMs: TUNNEL_ANEW },
      bringUp,
      happens: async ({ two }) => {
        await set();
        process.kill(await agentOf(two), 'SIGKILL');
        await two.up([], clock?.env);
      },
    },
  ];
}

/** Its state is on a file system of its own. */
async function onSmallDisk(node: LabNode, later: AsyncDisposableStack): Promise<unknown> {
  if (node.host.name !== 'two') return node.up();
  const held = readFileSync(`${node.directory}/node.json`);
  const { uid, gid } = statSync(node.directory);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK},mode=700,uid=${uid},gid=${gid}`, 'none', node.directory]);
  later.defer(async () => {
    execFileSync('umount', ['-l', node.directory]);
  });
  writeFileSync(`${node.directory}/node.json`, held, { mode: 0o600 });
  chownSync(`${node.directory}/node.json`, uid, gid);
  return node.up();
}

async function agentOf(node: LabNode): Promise<number> {
  return (await node.status()).node.pid;
}

function wireguardOf({ interfaceName }: LabNode): number {
  return Number(readFileSync(`/var/run/mesh/wireguard-${interfaceName}.pid`, 'utf8').split(' ')[0]);
}

function stopped(pid: number): Promise<void> {
  return during((name) => process.kill(pid, name));
}

async function during(signal: (name: NodeJS.Signals) => unknown): Promise<void> {
  signal('SIGSTOP');
  await after(AWAY_MS).finally(() => signal('SIGCONT'));
}

function both(ms: number): Readonly<Record<Way, number>> {
  return { direct: ms, relayed: ms };
}
