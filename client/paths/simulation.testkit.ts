import { createHash } from 'node:crypto';
import { parseCidr } from '../../core/model/cidr.ts';
import { type KeyPair, keyPairOf } from '../../net/seal/x25519.ts';
import type { RelayCosts } from '../../net/signal/relay-costs.ts';
import type { Family } from '../family.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';
import { type Candidate, priorityOf } from './ice/candidate.ts';
import type { PairStatus, PathCommand } from './path-command.ts';
import { Paths } from './paths.ts';

/**
 * Obstacle between a host and the internet. `easy` and `hard` are Linux masquerading with and without random ports, both
 * closed to what was not asked for; `open` is `easy` without that: a stray packet is noted, and its port then is taken.
 */
export type Obstruction = 'none' | 'firewall' | 'easy' | 'hard' | 'open';

export interface SimulationOptions {
  readonly seed?: number;
  /** Share of UDP datagrams, from 0 to 1. */
  readonly loss?: number;
  /** Least and most milliseconds in one direction; a wide span reorders. */
  readonly delay?: readonly [number, number];
  /** A real bus keeps the order of what one sends to another. */
  readonly isBusUnordered?: boolean;
  /** Milliseconds that each node's clock is ahead of the simulation. */
  readonly skews?: readonly number[];
}

const WIREGUARD_PORT = 51_820;
const STUN_SERVER = { address: '203.0.113.250', port: 3478 };
const FLOW_LIFE_MS = 30_000;
const BUS_DELAY_MS = 15;
const BUS_JITTER_MS = 10;
const RELAY_DELAY_MS = 20;
/** More ticks at one instant than this is a loop. */
const MAX_TICKS_AT_ONCE = 50;
const NARROW_BYTES = 1_300;

/** A packet of WireGuard. */
interface Data {
  readonly from: string;
  readonly n: number;
  readonly length: number;
}

interface Flow {
  readonly inside: string;
  readonly remote: string;
  readonly port: number;
  at: number;
}

/** A host's own firewall, or a router: conntrack as Linux has it. */
class Router {
  readonly #kind: Obstruction;
  readonly publicAddress: string;
  readonly #draw: () => number;
  #flows: Flow[] = [];

  constructor(kind: Obstruction, publicAddress: string, draw: () => number) {
    this.#kind = kind;
    this.publicAddress = publicAddress;
    this.#draw = draw;
  }

  /** A packet leaves. @returns the source that the world sees */
  out(inside: Endpoint, remote: Endpoint, now: number): Endpoint {
    this.#forgetOld(now);
    const known = this.#flows.find((flow) => flow.inside === nameOf(inside) && flow.remote === nameOf(remote));
    const flow = known ?? {
      inside: nameOf(inside),
      remote: nameOf(remote),
      port: this.#freePort(inside, remote),
      at: now,
    };
    if (!known) this.#flows.push(flow);
    flow.at = now;
    return { address: this.publicAddress, port: flow.port };
  }

  /** A packet arrives at a port. @returns who inside gets it */
  in(port: number, remote: Endpoint, now: number): string | undefined {
    this.#forgetOld(now);
    const flow = this.#flows.find((known) => known.port === port && known.remote === nameOf(remote));
    if (!flow && this.#kind === 'open') this.#flows.push({ inside: 'router', remote: nameOf(remote), port, at: now });
    if (flow) flow.at = now;
    return flow?.inside === 'router' ? undefined : flow?.inside;
  }

  #freePort(inside: Endpoint, remote: Endpoint): number {
    let port = this.#kind === 'hard' ? this.#anyPort() : inside.port;
    while (this.#flows.some((flow) => flow.port === port && flow.remote === nameOf(remote))) port = this.#anyPort();
    return port;
  }

  #anyPort(): number {
    return 1_024 + Math.floor(this.#draw() * 60_000);
  }

  #forgetOld(now: number): void {
    this.#flows = this.#flows.filter(({ at }) => now - at <= FLOW_LIFE_MS);
  }
}

/** A node with its tunnel, including WireGuard's own handling of endpoints. */
export class SimulatedNode {
  readonly name: string;
  readonly keyPair: KeyPair;
  inside: Endpoint;
  router: Router | undefined;
  readonly obstruction: Obstruction;
  /** The network that the host is in; hosts of one network reach each other directly. */
  site: string;
  readonly skew: number;
  readonly endpoints = new Map<string, Endpoint | 'relay'>();
  /** Peers whose packets the relay carries. */
  readonly met = new Set<string>();
  /** Where peers were reached, as it is kept for the next process. */
  readonly known = new Map<string, readonly Endpoint[]>();
  /** Relay costs of peers, by public key. */
  readonly peerCosts = new Map<string, RelayCosts>();
  readonly bytes = new Map<string, number>();
  readonly logs: string[] = [];
  readonly states: string[] = [];
  paths!: Paths;
  /** Reason why it cannot share the port. */
  obstacle: string | null = null;
  onlyFamily: Family | undefined;
  isBusUp = true;
  isRelayUp = true;
  isStunUp = true;
  isRunning = false;
  received: { readonly from: string; readonly by: 'direct' | 'relay'; readonly at: number; readonly n: number }[] = [];
  sent = { signals: 0, checks: 0, endpoints: 0, probes: 0, stunBytes: 0 };

  constructor(name: string, obstruction: Obstruction, place: Place, skew: number, keyPair: KeyPair) {
    this.name = name;
    this.obstruction = obstruction;
    this.site = place.site;
    this.inside = place.inside;
    this.router = place.router;
    this.skew = skew;
    this.keyPair = keyPair;
  }

  get publicKey(): string {
    return Buffer.from(this.keyPair.publicKey).toString('base64');
  }
}

interface Place {
  readonly site: string;
  readonly inside: Endpoint;
  readonly router: Router | undefined;
}

export class Simulation {
  now = 1_000_000;
  readonly nodes: SimulatedNode[] = [];
  readonly #loss: number;
  readonly #delay: readonly [number, number];
  readonly #skews: readonly number[];
  readonly #seed: number;
  readonly #isBusUnordered: boolean;
  readonly #lastOnBus = new Map<string, number>();
  readonly #routers = new Map<string, Router>();
  readonly #cuts = new Set<string>();
  readonly #narrow = new Set<string>();
  #draws = 0;
  #places = 0;
  /** Sees every datagram of an agent as it arrives. */
  onUdp: ((to: SimulatedNode, bytes: Uint8Array) => void) | undefined;
  #events: { readonly at: number; readonly order: number; readonly run: () => void }[] = [];
  #order = 0;
  /** Both sides of every datagram of `data`, by number. */
  #data = 0;

  constructor({ seed = 1, loss = 0, delay = [5, 15], skews = [], isBusUnordered = false }: SimulationOptions = {}) {
    this.#isBusUnordered = isBusUnordered;
    this.#seed = seed;
    this.#loss = loss;
    this.#delay = delay;
    this.#skews = skews;
  }

  /** A host behind an obstruction. Hosts of the same site share its router and reach each other without it. */
  add(name: string, obstruction: Obstruction, site = name): SimulatedNode {
    const skew = this.#skews[this.nodes.length] ?? 0;
    const keyPair = keyPairOf(this.bytes(32));
    const node = new SimulatedNode(name, obstruction, this.#place(obstruction, site), skew, keyPair);
    this.nodes.push(node);
    return node;
  }

  /** The host is in another network of the same kind from now on. */
  move(node: SimulatedNode): void {
    Object.assign(node, this.#place(node.obstruction, `${node.site}'`));
    this.gather(node);
  }

  /** A clean end of the agent. */
  stop(node: SimulatedNode): void {
    this.#perform(node, node.paths.close(this.now + node.skew));
    node.isRunning = false;
  }

  #place(obstruction: Obstruction, site: string): Place {
    const index = ++this.#places;
    const publicAddress = `198.51.${100 + (index >> 8)}.${index & 0xff}`;
    const isRouted = obstruction !== 'none' && obstruction !== 'firewall';
    const inside = { address: isRouted ? `192.168.1.${index + 10}` : publicAddress, port: WIREGUARD_PORT };
    const known = this.#routers.get(site);
    const router =
      obstruction === 'none' ? undefined : (known ?? new Router(obstruction, publicAddress, () => this.draw()));
    if (router) this.#routers.set(site, router);
    return { site, inside, router };
  }

  /** The agent of a node begins, or begins again as a new process. */
  start(node: SimulatedNode): void {
    node.endpoints.clear();
    this.#begin(node, new Map());
  }

  /** Another agent begins where one was killed: the tunnel goes on as it is. */
  takeOver(node: SimulatedNode): void {
    const held = [...node.endpoints].flatMap(([key, endpoint]) =>
      endpoint === 'relay' ? [] : [[key, endpoint] as const],
    );
    this.#begin(node, new Map(held));
  }

  #begin(node: SimulatedNode, held: ReadonlyMap<string, Endpoint>): void {
    node.paths = new Paths({
      keyPair: node.keyPair,
      ownId: node.name,
      known: node.known,
      subjectOf: (id) => `mesh.w.${id}.signal`,
      overlay: [parseCidr('10.96.0.0/24')].flatMap((range) => range ?? []),
      ...(node.onlyFamily && { onlyFamily: node.onlyFamily }),
      random: (bytes) => this.bytes(bytes),
      held,
    });
    node.isRunning = true;
    node.met.clear();
    this.setPeers(
      node,
      this.nodes.filter((other) => other !== node),
    );
    const now = this.now + node.skew;
    this.#perform(node, node.paths.busChanged(node.isBusUp, now));
    this.#perform(node, node.paths.relayChanged(relayState(node.isRelayUp), now));
    this.gather(node);
  }

  /** The process is gone without a word. */
  kill(node: SimulatedNode): void {
    node.isRunning = false;
  }

  setPeers(node: SimulatedNode, peers: readonly SimulatedNode[]): void {
    for (const peer of peers) if (!node.endpoints.has(peer.publicKey)) node.endpoints.set(peer.publicKey, 'relay');
    const list = peers.map(({ name, publicKey }) => ({ id: name, publicKey }));
    this.#perform(node, node.paths.peersChanged(list, this.now + node.skew));
  }

  /** Gathers candidates as the port of a node does. */
  gather(node: SimulatedNode): void {
    const { inside, router } = node;
    const candidates: Candidate[] = [{ type: 'host', ...inside, priority: priorityOf('host', inside.address) }];
    if (node.isStunUp && router && router.publicAddress !== inside.address) {
      const mapped = router.out(inside, STUN_SERVER, this.now);
      candidates.push({ type: 'srflx', ...mapped, priority: priorityOf('srflx', mapped.address) });
    }
    const state = { obstacle: node.obstacle, isMapped: node.obstacle === null };
    const known = node.obstacle === null ? candidates : [];
    this.#perform(node, node.paths.candidatesChanged(known, state, this.now + node.skew));
  }

  bus(node: SimulatedNode, isUp: boolean): void {
    node.isBusUp = isUp;
    this.#perform(node, node.paths.busChanged(isUp, this.now + node.skew));
  }

  relay(node: SimulatedNode, isUp: boolean): void {
    node.isRelayUp = isUp;
    this.#perform(node, node.paths.relayChanged(relayState(isUp), this.now + node.skew));
  }

  /** The relays that a node can use. */
  costs(node: SimulatedNode, costs: Readonly<Record<string, number>>): void {
    this.#perform(node, node.paths.relayCostsChanged(new Map(Object.entries(costs)), this.now + node.skew));
  }

  /** No UDP between two hosts, until `mend`. */
  cut(a: SimulatedNode, b: SimulatedNode): void {
    this.cutOneWay(a, b);
    this.cutOneWay(b, a);
  }

  cutOneWay(from: SimulatedNode, to: SimulatedNode): void {
    this.#cuts.add(`${from.name} ${to.name}`);
  }

  /** UDP above 1,300 bytes is lost between two hosts, until `mend`. */
  narrow(a: SimulatedNode, b: SimulatedNode): void {
    this.narrowOneWay(a, b);
    this.narrowOneWay(b, a);
  }

  narrowOneWay(from: SimulatedNode, to: SimulatedNode): void {
    this.#narrow.add(`${from.name} ${to.name}`);
  }

  mend(): void {
    this.#cuts.clear();
    this.#narrow.clear();
  }

  /** Handles a packet for a peer as WireGuard does. @returns the packet's number */
  data(from: SimulatedNode, to: SimulatedNode, length = 128): number {
    const n = this.#data++;
    from.bytes.set(to.publicKey, (from.bytes.get(to.publicKey) ?? 0) + length);
    const endpoint = from.endpoints.get(to.publicKey);
    if (endpoint === undefined) return n;
    if (endpoint !== 'relay') {
      this.#udp(from, endpoint, { from: from.publicKey, n, length });
      return n;
    }
    this.#perform(from, from.paths.loopbackUsed(to.publicKey, this.now + from.skew));
    const direct = from.paths.statusOf(to.name)?.endpoint;
    // The loopback sends on a peer's packets itself while WireGuard is told again.
    if (direct && direct !== 'relay') this.#udp(from, direct, { from: from.publicKey, n, length });
    else if (from.met.has(to.publicKey))
      this.#relayed(from, to.publicKey, (peer) => this.#arrived(peer, from.publicKey, 'relay', n));
    return n;
  }

  status(node: SimulatedNode, peer: SimulatedNode): PairStatus {
    const status = node.paths.statusOf(peer.name);
    if (!status) throw new Error(`${node.name} knows no ${peer.name}`);
    return status;
  }

  /** Lets time pass. `each` is called every `every` milliseconds. */
  run(milliseconds: number, each?: () => void, every = 1_000): void {
    const end = this.now + milliseconds;
    if (each) for (let at = this.now + every; at <= end; at += every) this.#at(at, each);
    for (let at = this.now + 1_000; at <= end; at += 1_000) this.#at(at, () => this.#lookAtTunnels());
    let ticks = 0;
    let last = -1;
    for (;;) {
      const wakes = this.nodes.map((node) => (node.isRunning ? node.paths.deadline - node.skew : Infinity));
      const next = Math.min(this.#events[0]?.at ?? Infinity, ...wakes);
      if (next > end) break;
      this.now = Math.max(this.now, next);
      ticks = this.now === last ? ticks + 1 : 0;
      last = this.now;
      if (ticks > MAX_TICKS_AT_ONCE * (this.nodes.length + this.#events.length + 1)) {
        throw new Error(`The nodes spin at ${this.now}.`);
      }
      const [event] = this.#events;
      if (event && event.at <= this.now) {
        this.#events.shift();
        event.run();
      }
      for (const node of this.nodes) {
        if (!node.isRunning || node.paths.deadline - node.skew > this.now) continue;
        // A timer is late by a little, never early; sums with a skew are rounded.
        this.#perform(node, node.paths.tick(Math.max(this.now + node.skew, node.paths.deadline)));
      }
    }
    this.now = end;
  }

  draw(): number {
    return this.bytes(4).readUInt32BE() / 2 ** 32;
  }

  bytes(count: number): Buffer {
    const block = createHash('sha512')
      .update(`${this.#seed} ${this.#draws++}`)
      .digest();
    return Buffer.from(block.subarray(0, count));
  }

  #perform(node: SimulatedNode, commands: readonly PathCommand[]): void {
    for (const command of commands) this.#performOne(node, command);
  }

  #performOne(node: SimulatedNode, command: PathCommand): void {
    switch (command.type) {
      case 'publish': {
        node.sent.signals += 1;
        const to = this.nodes.find(({ name }) => command.subject === `mesh.w.${name}.signal`);
        if (!node.isBusUp || !to) return;
        const direction = `${node.name} ${to.name}`;
        const drawn = this.now + BUS_DELAY_MS + this.draw() * BUS_JITTER_MS;
        const at = this.#isBusUnordered ? drawn : Math.max(drawn, this.#lastOnBus.get(direction) ?? 0);
        this.#lastOnBus.set(direction, at);
        this.#at(at, () => {
          if (!to.isBusUp || !to.isRunning) return;
          this.#perform(to, to.paths.signalReceived(command.subject, command.sealed, this.now + to.skew));
        });
        return;
      }
      case 'stun':
        node.sent.checks += 1;
        node.sent.stunBytes += command.bytes.length;
        this.#udp(node, command.to, command.bytes);
        return;
      case 'relay':
        this.#relayed(node, command.publicKey, (peer) => {
          this.#perform(peer, peer.paths.relayedReceived(node.publicKey, command.bytes, this.now + peer.skew));
        });
        return;
      case 'probe-relay': {
        node.sent.probes += 1;
        if (!node.isRelayUp) return;
        this.#after(2 * RELAY_DELAY_MS, () => {
          const peer = this.nodes.find(({ publicKey }) => publicKey === command.publicKey);
          const isPresent = peer?.isRunning === true && peer.isRelayUp;
          if (!node.isRunning || !node.isRelayUp) return;
          this.#perform(node, node.paths.relayProbed(command.publicKey, isPresent, this.now + node.skew));
        });
        return;
      }
      case 'met':
        node.met.add(command.publicKey);
        return;
      case 'remember':
        node.known.set(command.publicKey, command.endpoints);
        return;
      case 'endpoint':
        node.sent.endpoints += 1;
        node.endpoints.set(command.publicKey, command.endpoint);
        return;
      case 'log':
        if (command.level === 'info') node.logs.push(command.message);
        return;
      case 'peer-costs':
        node.peerCosts.set(command.publicKey, command.costs);
        return;
      case 'opened':
      case 'handshake':
        return;
      case 'look':
        this.#after(1, () => this.#lookAt(node));
        return;
      case 'changed':
        node.states.push(command.status.transport);
        return;
      default:
        command satisfies never;
    }
  }

  #relayed(from: SimulatedNode, publicKey: string, arrive: (peer: SimulatedNode) => void): void {
    const peer = this.nodes.find((node) => node.publicKey === publicKey);
    if (!from.isRelayUp || !peer) return;
    this.#after(RELAY_DELAY_MS, () => {
      if (peer.isRelayUp && peer.isRunning) arrive(peer);
    });
  }

  #udp(from: SimulatedNode, to: Endpoint, content: Uint8Array | Data): void {
    const neighbour = this.nodes.find((node) => node.site === from.site && nameOf(node.inside) === nameOf(to));
    const source = neighbour ? from.inside : (from.router?.out(from.inside, to, this.now) ?? from.inside);
    if (this.draw() < this.#loss) return;
    const [least, most] = this.#delay;
    this.#after(least + this.draw() * (most - least), () => {
      const target = neighbour ?? this.#behind(to, source);
      if (!target?.isRunning || this.#cuts.has(`${from.name} ${target.name}`)) return;
      if (content.length > NARROW_BYTES && this.#narrow.has(`${from.name} ${target.name}`)) return;
      if (content instanceof Uint8Array) {
        this.onUdp?.(target, content);
        this.#perform(target, target.paths.stunReceived(content, source, this.now + target.skew));
      } else {
        target.endpoints.set(content.from, source);
        this.#arrived(target, content.from, 'direct', content.n);
      }
    });
  }

  #behind(to: Endpoint, source: Endpoint): SimulatedNode | undefined {
    const router = [...this.#routers.values()].find(({ publicAddress }) => publicAddress === to.address);
    if (!router) return this.nodes.find(({ inside, router: own }) => !own && nameOf(inside) === nameOf(to));
    const inside = router.in(to.port, source, this.now);
    return this.nodes.find((node) => node.router === router && nameOf(node.inside) === inside);
  }

  #arrived(node: SimulatedNode, from: string, by: 'direct' | 'relay', n: number): void {
    node.bytes.set(from, (node.bytes.get(from) ?? 0) + 128);
    if (by === 'relay') {
      node.endpoints.set(from, 'relay');
      this.#perform(node, node.paths.relayHeard(from, this.now + node.skew));
    }
    const sender = this.nodes.find(({ publicKey }) => publicKey === from);
    node.received.push({ from: sender?.name ?? '', by, at: this.now, n });
  }

  #lookAtTunnels(): void {
    for (const node of this.nodes) this.#lookAt(node);
  }

  #lookAt(node: SimulatedNode): void {
    if (!node.isRunning) return;
    const traffics = [...node.endpoints].map(([publicKey, endpoint]) => ({
      publicKey,
      endpoint,
      receivedBytes: node.bytes.get(publicKey) ?? 0,
      handshakeAt: null,
      sentBytes: 0,
    }));
    this.#perform(node, node.paths.trafficSeen(traffics, this.now + node.skew));
  }

  #after(milliseconds: number, run: () => void): void {
    this.#at(this.now + milliseconds, run);
  }

  #at(at: number, run: () => void): void {
    const event = { at, order: this.#order++, run };
    let low = 0;
    for (let high = this.#events.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle]?.at ?? Infinity) <= at) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, event);
  }
}

function relayState(isUp: boolean) {
  return isUp ? ({ state: 'ready' } as const) : ({ state: 'away', reason: 'the connection ended' } as const);
}

function nameOf({ address, port }: Endpoint): string {
  return `${address} ${port}`;
}
