import { randomBytes } from 'node:crypto';
import { type IpRange, parseCidr } from '../../core/network/cidr.ts';
import type { FullGraph } from '../../core/network/graph.ts';
import type { Log } from '../../core/ports.ts';
import { parseRelayAddress, type RelayAddress, redirectRelay } from '../../net/relay/address.ts';
import type { KeyPair } from '../../net/seal/x25519.ts';
import { IcePort } from '../ice-port/ice-port.ts';
import { RelayLink } from '../relay/link.ts';
import { Loopback, type LoopbackPeer } from '../relay/loopback.ts';
import type { Endpoint, Tunnel } from '../tunnel/tunnel.ts';
import { EndpointWriter } from './endpoint-writer.ts';
import { Paths } from './paths.ts';
import type { PathStatus } from './status.ts';
import type { PairStatus, PathCommand } from './surroundings.ts';

export interface ConnectivityOptions {
  /** This node's. After a rotation close this and start another. */
  readonly keyPair: KeyPair;
  readonly workspaceId: string;
  /** The graph to begin with; its peers are admitted before `start` resolves. */
  readonly graph: FullGraph;
  readonly tunnel: Pick<Tunnel, 'interfaceName' | 'listenPort' | 'setEndpoint' | 'peers'>;
  /** `--relay-url`: replaces host and port of the relay in the graph; the credential stays the graph's. */
  readonly relayOverride?: RelayAddress;
  /** Puts a sealed signal on the bus; may drop it while the bus is away. */
  readonly publish: (subject: string, sealed: Uint8Array) => void;
  readonly log: Log;
}

/** How this node's peers are reached: opens the ways, keeps them, and tells the tunnel where each peer is. */
export interface Connectivity {
  /**
   * First step of a new graph: makes the loopback endpoint of every peer. Give each new peer of the tunnel its endpoint of
   * this map (by public key), so that the first packet has somewhere to go; leave out the endpoint of peers it has already.
   */
  admit(graph: FullGraph): Promise<ReadonlyMap<string, Endpoint>>;
  /** Second step, once the tunnel holds the peers: new peers are connected, those that left are forgotten. */
  updateGraph(graph: FullGraph): void;
  /** What arrived on this node's own signal subject. Never throws. */
  receiveSignal(subject: string, sealed: Uint8Array): void;
  /** `down` until told otherwise. */
  busState(state: 'up' | 'down'): void;
  /** In the order of the graph. */
  statuses(): readonly PathStatus[];
  /** Every change of a peer's status, for `ping --until-direct` and logs. @returns stops listening */
  onChange(listener: (status: PathStatus) => void): () => void;
  /** Tries the direct way to a peer now instead of at the end of its back-off. */
  hurry(peerId: string): void;
  metrics(): ConnectivityMetrics;
  /** Takes away sockets, loopback addresses and packet rules. Idempotent. */
  close(): Promise<void>;
}

export interface ConnectivityMetrics {
  readonly relay: {
    readonly state: 'ready' | 'connecting' | 'away' | 'none';
    /** Without its credential. Null when the graph names no relay. */
    readonly address: string | null;
    /** The reason of the last failure; null while ready. */
    readonly reason: string | null;
    readonly sentPackets: number;
    readonly receivedPackets: number;
    /** Packets that were not carried, by reason. */
    readonly dropped: Readonly<Record<RelayDrop, number>>;
  };
  readonly icePort: {
    /** Whether STUN leaves and arrives by WireGuard's own port. */
    readonly isShared: boolean;
    /** What keeps it from being shared, for people; null when it is. */
    readonly obstacle: string | null;
    /** Public address that a STUN server saw, by address family. */
    readonly mapped: { readonly ipv4: Endpoint | null; readonly ipv6: Endpoint | null };
  };
  /** Signals and checks that were ignored, by reason. */
  readonly ignored: Readonly<Record<string, number>>;
}

export type RelayDrop =
  /** The session with the relay is not open. */
  | 'relay-away'
  /** The relay reads too slowly: more would only be delay. */
  | 'queue-full'
  /** The peer was never met: nothing was negotiated over the bus. */
  | 'not-negotiated'
  /** From or for an address that belongs to no peer. */
  | 'unknown-peer'
  | 'too-large';

/** A look at the tunnel while a direct way is in use, and otherwise. */
const LOOK_MS = 1_000;
const QUIET_LOOK_MS = 10_000;
/** STUN between agents begins with 0, WireGuard's packets with 1 to 4. */
const STUN_FIRST_BYTE = 0;

/** Opens sockets and rules, and begins with every peer on the relay. */
export async function startConnectivity(options: ConnectivityOptions): Promise<Connectivity> {
  const connectivity = new RunningConnectivity(options);
  try {
    await connectivity.open();
    return connectivity;
  } catch (error) {
    await connectivity.close();
    throw error;
  }
}

class RunningConnectivity implements Connectivity {
  readonly #options: ConnectivityOptions;
  readonly #paths: Paths;
  readonly #link: RelayLink;
  readonly #endpoints: EndpointWriter;
  readonly #listeners = new Set<(status: PathStatus) => void>();
  /** Of peers with a direct way, by public key. */
  readonly #directs = new Map<string, Endpoint>();
  /** Peers whose packets the relay may carry, by public key. */
  readonly #met = new Set<string>();
  #notNegotiated = 0;
  #loopback: Loopback | undefined;
  #icePort: IcePort | undefined;
  #order: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #wakeAt = Number.POSITIVE_INFINITY;
  #looker: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ConnectivityOptions) {
    this.#options = options;
    const { keyPair, workspaceId, graph, tunnel, log } = options;
    this.#paths = new Paths({
      keyPair,
      subjectOf: (peerId) => `mesh.${workspaceId}.${peerId}.signal`,
      overlay: overlayOf(graph),
      random: randomBytes,
    });
    this.#endpoints = new EndpointWriter(tunnel, log);
    this.#link = new RelayLink({
      keyPair,
      now,
      random: Math.random,
      log,
      onReady: () => this.#perform(this.#paths.relayChanged({ state: 'ready' }, now())),
      onAway: (reason) => this.#perform(this.#paths.relayChanged(this.#relayState(reason), now())),
      onPacket: (from, payload) => this.#fromRelay(from, payload),
      onProbed: (from, isPresent) => {
        const peer = this.#loopback?.peerOfRelayId(from);
        if (peer) this.#perform(this.#paths.relayProbed(peer.publicKey, isPresent, now()));
      },
    });
  }

  async open(): Promise<void> {
    const { tunnel, log, graph } = this.#options;
    const wireguardPort = tunnel.listenPort;
    this.#loopback = await Loopback.open({
      wireguardPort,
      now,
      log,
      onPacket: (peer, packet) => this.#fromTunnel(peer, packet),
    });
    this.#icePort = await IcePort.open({
      interfaceName: tunnel.interfaceName,
      wireguardPort,
      overlay: overlayOf(graph),
      now,
      log,
      onDatagram: (bytes, from) => this.#perform(this.#paths.stunReceived(bytes, from, now())),
      onChange: () => this.#portChanged(),
    });
    this.#portChanged();
    await this.admit(graph);
    this.updateGraph(graph);
    this.#look();
  }

  async admit(graph: FullGraph): Promise<ReadonlyMap<string, Endpoint>> {
    const loopback = this.#loopback;
    if (!loopback) return new Map();
    await loopback.admit(graph.peers.map(({ publicKey }) => publicKey));
    const endpoints = graph.peers.flatMap(({ publicKey }) => {
      const endpoint = loopback.endpointOf(publicKey);
      return endpoint ? [[publicKey, endpoint] as const] : [];
    });
    return new Map(endpoints);
  }

  updateGraph(graph: FullGraph): void {
    if (this.#isClosed) return;
    this.#order = graph.peers.map(({ id }) => id);
    const keys = new Set(graph.peers.map(({ publicKey }) => publicKey));
    this.#perform(this.#paths.peersChanged(graph.peers, now()));
    for (const known of [this.#directs, this.#met]) {
      for (const publicKey of known.keys()) if (!keys.has(publicKey)) known.delete(publicKey);
    }
    this.#loopback
      ?.keep(keys)
      .catch((error: unknown) => this.#options.log.warn({ err: error }, 'Loopback addresses stayed.'));
    this.#icePort?.setServers(graph.stun);
    this.#link.use(relayOf(graph, this.#options.relayOverride));
    if (this.#link.state !== 'ready') {
      this.#perform(this.#paths.relayChanged(this.#relayState(this.#link.reason ?? 'connecting'), now()));
    }
  }

  receiveSignal(subject: string, sealed: Uint8Array): void {
    this.#perform(this.#paths.signalReceived(subject, sealed, now()));
  }

  busState(state: 'up' | 'down'): void {
    this.#perform(this.#paths.busChanged(state === 'up', now()));
  }

  statuses(): readonly PathStatus[] {
    return this.#order.flatMap((id) => {
      const status = this.#paths.statusOf(id);
      return status ? [this.#shown(status)] : [];
    });
  }

  onChange(listener: (status: PathStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  hurry(peerId: string): void {
    this.#perform(this.#paths.hurry(peerId, now()));
  }

  metrics(): ConnectivityMetrics {
    const link = this.#link;
    return {
      relay: {
        state: link.state,
        address: link.address ?? null,
        reason: link.reason ?? null,
        sentPackets: link.sent.packets,
        receivedPackets: link.received.packets,
        dropped: {
          ...link.dropped,
          'not-negotiated': this.#notNegotiated,
          'unknown-peer': this.#loopback?.strangers ?? 0,
        },
      },
      icePort: {
        isShared: this.#icePort?.obstacle === null,
        obstacle: this.#icePort?.obstacle ?? null,
        mapped: this.#icePort?.mapped ?? { ipv4: null, ipv6: null },
      },
      ignored: this.#paths.ignored,
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#perform(this.#paths.close(now()));
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#looker);
    this.#link.close();
    this.#listeners.clear();
    await Promise.allSettled([this.#loopback?.close(), this.#icePort?.close()]);
  }

  #perform(commands: readonly PathCommand[]): void {
    if (this.#isClosed) return;
    for (const command of commands) this.#performOne(command);
    this.#schedule();
  }

  #performOne(command: PathCommand): void {
    switch (command.type) {
      case 'publish':
        this.#options.publish(command.subject, command.sealed);
        return;
      case 'stun':
        this.#icePort?.send(command.to, command.bytes);
        return;
      case 'relay': {
        const peer = this.#loopback?.peer(command.publicKey);
        if (peer) this.#link.forward(peer.relayId, command.bytes);
        return;
      }
      case 'probe-relay': {
        const peer = this.#loopback?.peer(command.publicKey);
        if (peer) this.#link.probe(peer.relayId);
        return;
      }
      case 'met':
        this.#metPeer(command.publicKey);
        return;
      case 'endpoint':
        this.#moveEndpoint(command);
        return;
      case 'opened':
        this.#sendInitiation(command.publicKey);
        return;
      case 'changed':
        for (const listener of this.#listeners) listener(this.#shown(command.status));
        return;
      case 'log':
        this.#options.log[command.level](command.fields, command.message);
        return;
      default:
        command satisfies never;
    }
  }

  #moveEndpoint({ publicKey, endpoint, isNew }: Extract<PathCommand, { type: 'endpoint' }>): void {
    const loopback = this.#loopback;
    const target = endpoint === 'relay' ? loopback?.endpointOf(publicKey) : endpoint;
    if (!loopback || !target) return;
    if (endpoint === 'relay') this.#directs.delete(publicKey);
    else this.#directs.set(publicKey, endpoint);
    this.#endpoints.set(publicKey, target);
    if (isNew && endpoint === 'relay') this.#icePort?.suspect();
  }

  /** A handshake that WireGuard began before there was a way need not wait for its next try. */
  #sendInitiation(publicKey: string): void {
    const initiation = this.#loopback?.initiationOf(publicKey);
    const peer = this.#loopback?.peer(publicKey);
    if (initiation && peer) this.#fromTunnel(peer, initiation);
  }

  #metPeer(publicKey: string): void {
    this.#met.add(publicKey);
    const peer = this.#loopback?.peer(publicKey);
    const initiation = this.#loopback?.initiationOf(publicKey);
    if (peer && initiation) this.#fromTunnel(peer, initiation);
  }

  /** What WireGuard handed to the loopback. */
  #fromTunnel(peer: LoopbackPeer, packet: Uint8Array): void {
    const direct = this.#directs.get(peer.publicKey);
    if (direct === undefined) {
      if (!this.#met.has(peer.publicKey)) {
        this.#notNegotiated += 1;
        return;
      }
      this.#link.forward(peer.relayId, packet);
      return;
    }
    // WireGuard went back to where a late packet came from. It is told again; this packet takes the direct way meanwhile.
    this.#icePort?.send(direct, packet);
    this.#perform(this.#paths.loopbackUsed(peer.publicKey, now()));
  }

  #fromRelay(from: bigint, payload: Uint8Array): void {
    const loopback = this.#loopback;
    const peer = loopback?.peerOfRelayId(from);
    if (!loopback || !peer) return;
    if (payload[0] === STUN_FIRST_BYTE) {
      this.#perform(this.#paths.relayedReceived(peer.publicKey, Uint8Array.from(payload), now()));
      return;
    }
    loopback.deliver(peer, payload);
    const commands = this.#paths.relayHeard(peer.publicKey, now());
    if (commands.length > 0) this.#perform(commands);
  }

  #relayState(reason: string) {
    return this.#link.state === 'none' ? ({ state: 'none' } as const) : ({ state: 'away', reason } as const);
  }

  #portChanged(): void {
    const port = this.#icePort;
    if (!port) return;
    const { ipv4, ipv6 } = port.mapped;
    const state = { obstacle: port.obstacle, isMapped: ipv4 !== null || ipv6 !== null };
    this.#perform(this.#paths.candidatesChanged(port.candidates, state, now()));
    this.#link.suspect();
  }

  /** Who has traffic, and where WireGuard really sends to. */
  #look(): void {
    this.#looker = setTimeout(
      () => {
        this.#lookNow()
          .catch((error: unknown) =>
            this.#options.log.debug({ err: error }, 'The tunnel did not say how its peers are.'),
          )
          .finally(() => {
            if (!this.#isClosed) this.#look();
          });
      },
      this.#directs.size > 0 ? LOOK_MS : QUIET_LOOK_MS,
    );
  }

  async #lookNow(): Promise<void> {
    const peers = await this.#options.tunnel.peers();
    const loopback = this.#loopback;
    if (this.#isClosed || !loopback) return;
    const traffics = peers.map(({ publicKey, endpoint, receivedBytes, sentBytes }) => ({
      publicKey,
      receivedBytes,
      sentBytes,
      endpoint: endpoint && loopback.owns(endpoint) ? ('relay' as const) : endpoint,
    }));
    this.#perform(this.#paths.trafficSeen(traffics, now()));
  }

  #shown(status: PairStatus): PathStatus {
    if (status.endpoint !== 'relay') return { ...status, endpoint: status.endpoint };
    const publicKey = this.#paths.publicKeyOf(status.peerId);
    return { ...status, endpoint: (publicKey && this.#loopback?.shownEndpointOf(publicKey)) || null };
  }

  #schedule(): void {
    const { deadline } = this.#paths;
    if (deadline >= this.#wakeAt) return;
    clearTimeout(this.#timer);
    this.#wakeAt = deadline;
    this.#timer = setTimeout(
      () => {
        this.#wakeAt = Number.POSITIVE_INFINITY;
        this.#perform(this.#paths.tick(now()));
      },
      Math.max(1, Math.ceil(deadline - now())),
    );
  }
}

/** Milliseconds since the epoch by a clock that no one can set while the process runs. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

function overlayOf({ self }: FullGraph): readonly IpRange[] {
  return [parseCidr(self.cidr)].flatMap((range) => range ?? []);
}

function relayOf({ relay }: FullGraph, override: RelayAddress | undefined): RelayAddress | undefined {
  const address = relay === null ? undefined : parseRelayAddress(relay.url);
  if (relay === null || address === undefined) return undefined;
  const granted = { ...address, credential: relay.credential };
  return override ? redirectRelay(granted, override) : granted;
}
