import type { FullGraph } from '../../core/network/graph.ts';
import type { Log } from '../../core/ports.ts';
import { parseRelayAddress, type RelayAddress, redirectRelay } from '../../net/relay/address.ts';
import type { KeyPair } from '../../net/seal/x25519.ts';
import { RelayLink } from '../relay/link.ts';
import { Loopback } from '../relay/loopback.ts';
import type { Endpoint, Tunnel } from '../tunnel/tunnel.ts';
import type { PathStatus } from './status.ts';

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
  /** From or for an address that belongs to no peer. */
  | 'unknown-peer'
  | 'too-large';

/** Starts with every peer on the relay. */
export async function startConnectivity(options: ConnectivityOptions): Promise<Connectivity> {
  const { tunnel, log } = options;
  const now = () => performance.timeOrigin + performance.now();
  const listeners = new Set<(status: PathStatus) => void>();
  let graph = options.graph;
  let statuses: readonly PathStatus[] = [];
  const link = new RelayLink({
    keyPair: options.keyPair,
    now,
    random: Math.random,
    log,
    onReady() {
      for (const { publicKey } of graph.peers) {
        const peer = loopback.peer(publicKey);
        const initiation = loopback.initiationOf(publicKey);
        if (peer && initiation) link.forward(peer.relayId, initiation);
      }
      refresh();
    },
    onAway: () => refresh(),
    onPacket(from, payload) {
      const peer = loopback.peerOfRelayId(from);
      if (peer) loopback.deliver(peer, payload);
    },
    onProbed() {},
  });
  const loopback = await Loopback.open({
    wireguardPort: tunnel.listenPort,
    now,
    log,
    onPacket: (peer, packet) => link.forward(peer.relayId, packet),
  });

  function refresh(): void {
    const isReady = link.state === 'ready';
    const before = new Map(statuses.map((status) => [status.peerId, status]));
    statuses = graph.peers.map(({ id, publicKey }) => {
      const transport = isReady ? 'lrp-ready' : 'probing';
      const old = before.get(id);
      if (old?.transport === transport) return old;
      return {
        peerId: id,
        transport,
        path: isReady ? 'relayed' : null,
        endpoint: loopback.shownEndpointOf(publicKey) ?? null,
        reason: isReady
          ? { code: 'new', detail: 'The relay carries the packets.' }
          : { code: 'relay-away', detail: `The relay is not reached: ${link.reason ?? 'connecting'}.` },
        since: now(),
        roundTripMs: null,
      };
    });
    for (const status of statuses) {
      if (before.get(status.peerId) !== status) for (const listener of listeners) listener(status);
    }
  }
  const admit = async (next: FullGraph) => {
    await loopback.admit(next.peers.map(({ publicKey }) => publicKey));
    const endpoints = next.peers.flatMap(({ publicKey }) => {
      const endpoint = loopback.endpointOf(publicKey);
      return endpoint ? [[publicKey, endpoint] as const] : [];
    });
    return new Map(endpoints);
  };
  const updateGraph = (next: FullGraph) => {
    graph = next;
    void loopback.keep(new Set(next.peers.map(({ publicKey }) => publicKey)));
    link.use(relayOf(next, options.relayOverride));
    refresh();
  };
  await admit(graph);
  updateGraph(graph);
  return {
    admit,
    updateGraph,
    receiveSignal() {},
    busState() {},
    statuses: () => statuses,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    hurry() {},
    metrics: () => ({
      relay: {
        state: link.state,
        address: link.address ?? null,
        reason: link.reason ?? null,
        sentPackets: link.sent.packets,
        receivedPackets: link.received.packets,
        dropped: { ...link.dropped, 'unknown-peer': loopback.strangers },
      },
      icePort: { isShared: false, obstacle: null, mapped: { ipv4: null, ipv6: null } },
      ignored: {},
    }),
    async close() {
      link.close();
      await loopback.close();
    },
  };
}

function relayOf({ relay }: FullGraph, override: RelayAddress | undefined): RelayAddress | undefined {
  if (relay === null) return undefined;
  const address = parseRelayAddress(relay.url);
  if (address === undefined) return undefined;
  const granted = { ...address, credential: relay.credential };
  return override ? redirectRelay(granted, override) : granted;
}
