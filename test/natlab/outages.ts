import { once } from 'node:events';
import { type LabSpec, type Natlab, natlab } from '../kits/lab/natlab.ts';
import { type LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { type LabPlane, startLabPlane } from '../kits/lab/natlab-plane.ts';

/** What happens to a pair of nodes that use their path, and how long that may cost them. */
export interface Outage {
  readonly name: string;
  readonly spec: LabSpec;
  readonly path: 'direct' | 'relayed';
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
const DIRECT = { spec: { hosts: { one: {}, two: {} } }, path: 'direct' } as const;
const RELAYED = {
  spec: {
    routers: { home: { nat: 'hard' }, cafe: { nat: 'hard' } },
    hosts: { one: { behind: 'home' }, two: { behind: 'cafe' } },
  },
  path: 'relayed',
} as const;
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
    measure: async ({ one, two }) => {
      await one.down();
      await one.up();
      return firstAnswer(one);
    },
  },
];

export const outages: readonly Outage[] = [DIRECT, RELAYED].flatMap((way) =>
  restarts.map((restart) => ({ ...restart, ...way })),
);

/** Two nodes whose path is open and in use. */
export async function withPair<T>({ spec, path }: Outage, use: (pair: Pair) => Promise<T>): Promise<T> {
  await using lab = await natlab(spec);
  await using plane = await startLabPlane(lab);
  const { one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up());
  await one.untilPeer('two', (peer) => peer.path === path);
  await two.untilPeer('one', (peer) => peer.path === path);
  for (const node of [one, two]) {
    if (!(await node.host.reaches(otherOf(node)))) throw new Error(`${node.host.name} does not reach the other.`);
  }
  return await use({ lab, plane, one, two });
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

async function kill(node: LabNode): Promise<void> {
  process.kill((await node.status()).node.pid, 'SIGKILL');
}

function otherOf({ host }: LabNode): string {
  return host.name === 'one' ? ADDRESSES.two : ADDRESSES.one;
}

const PROBE_MS = 20;
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
