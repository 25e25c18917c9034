import type { LabHost, LabSpec, Natlab } from '../kits/lab/natlab.ts';
import { natlab } from '../kits/lab/natlab.ts';
import { LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { type LabParts, labParts } from '../kits/lab/natlab-parts.ts';
import { type LabPlane, startLabPlane } from '../kits/lab/natlab-plane.ts';
import { UserspaceNode } from '../kits/lab/userspace-node.ts';

export type Way = 'direct' | 'relayed';

/** How the second node of a pair has its tunnel; the first has an interface. */
export type Kind = 'root' | 'userspace';

/** What happens to a pair of nodes that use their path, and how long that may cost them. */
export interface Outage {
  readonly name: string;
  readonly path: Way;
  /** `root` unless given. */
  readonly kind?: Kind;
  /** The relay is no part of the control plane. */
  readonly isRelayApart?: boolean;
  readonly limitMs: number;
  /** Few seconds, and of what happens most often: each run of the lab has it. */
  readonly isQuick?: boolean;
  /** `mesh up` unless given. What is to be undone later is left with `after`. */
  bringUp?(node: LabNode, after: AsyncDisposableStack): Promise<unknown>;
  measure(pair: Pair): Promise<Silence>;
}

export interface Silence {
  /** Milliseconds without an answer, from when an answer could have come. */
  readonly ms: number;
  /** From when the trouble began, where that was earlier. */
  readonly wholeMs?: number;
}

export interface Pair {
  readonly lab: Natlab;
  readonly plane: LabPlane;
  readonly one: LabNode;
  readonly two: LabNode;
  readonly path: Way;
  /** That stands apart. */
  readonly relay: Relay;
}

export interface Relay {
  kill(): Promise<void>;
  start(): Promise<void>;
  signal(name: NodeJS.Signals): void;
}

const ADDRESSES = { one: '10.96.0.1', two: '10.96.0.2' } as const;
const RELAY_TOKEN = 'relay-token-of-the-outages';
const NATS = { direct: 'easy', relayed: 'hard' } as const;

/** Two nodes whose path is open and in use. */
export async function withPair<T>(outage: Outage, use: (pair: Pair) => Promise<T>): Promise<T> {
  const { path, kind = 'root', isRelayApart = false, bringUp = (node) => node.up() } = outage;
  await using after = new AsyncDisposableStack();
  await using lab = await natlab(specOf(path, isRelayApart));
  const relay = relayOf(lab);
  if (isRelayApart) await relay.start();
  await using plane = await startLabPlane(lab, isRelayApart ? settingsFor(lab) : {});
  const make = (host: LabHost) =>
    host.name === 'two' && kind === 'userspace' ? new UserspaceNode(host) : new LabNode(host);
  const { one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => bringUp(node, after), make);
  const pair: Pair = { lab, plane, one, two, path, relay };
  await untilAsBefore(pair);
  for (const node of [one, two]) {
    if (!(await node.reaches(otherOf(node)))) throw new Error(`${node.host.name} does not reach the other.`);
  }
  return await use(pair);
}

/** Until each reaches the other as the pair does. */
export async function untilAsBefore({ one, two, path }: Pick<Pair, 'one' | 'two' | 'path'>): Promise<void> {
  await one.untilPeer('two', (peer) => peer.path === path);
  await two.untilPeer('one', (peer) => peer.path === path);
}

/** @returns the overlay address of the other */
export function otherOf({ host }: LabNode): string {
  return host.name === 'one' ? ADDRESSES.two : ADDRESSES.one;
}

function specOf(path: Way, isRelayApart: boolean): LabSpec {
  const nat = NATS[path];
  return {
    routers: { home: { nat }, cafe: { nat }, yard: { nat } },
    hosts: { one: { behind: 'home' }, two: { behind: 'cafe' }, ...(isRelayApart && { relay: {} }) },
  };
}

function settingsFor(lab: Natlab): Readonly<Record<string, string>> {
  const where = `${lab.host('relay').address}:6266`;
  return { MESH_RELAY_LISTEN: 'off', MESH_RELAY_ADVERTISE_URL: where, MESH_LRP_AUTH_TOKEN: RELAY_TOKEN };
}

function relayOf(lab: Natlab): Relay {
  let parts: LabParts | undefined;
  return {
    async start() {
      parts = labParts(lab.host('relay'));
      await parts.serveRelayAndStun(RELAY_TOKEN);
    },
    async kill() {
      await parts?.kill();
    },
    signal: (name) => parts?.signal(name),
  };
}
