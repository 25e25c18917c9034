import type { Log } from '../../core/base/ports.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import type { RelayAddress } from '../../net/relay/address.ts';
import type { KeyPair } from '../../net/seal/x25519.ts';
import type { Lookup } from '../lookup.ts';
import type { RelayView } from '../relay/relays.ts';
import type { Endpoint, Tunnel, TunnelPeerState } from '../tunnel/tunnel.ts';
import type { PathStatus } from './status.ts';

export interface ConnectivityOptions {
  /** This node's. After a rotation close this and start another. */
  readonly keyPair: KeyPair;
  readonly workspaceId: string;
  /** The graph to begin with; its peers are admitted before `start` resolves. */
  readonly graph: FullGraph;
  readonly tunnel: Pick<
    Tunnel,
    'interfaceName' | 'listenPort' | 'mixesFamilies' | 'setEndpoint' | 'handshake' | 'peers'
  >;
  /** Where the tunnel sends to since the time of an earlier agent, by public key: that stays until a path is known. */
  readonly held?: ReadonlyMap<string, Endpoint>;
  /** `--relay-url`: replaces host and port of the relay in the graph; the credential stays the graph's. */
  readonly relayOverride?: RelayAddress;
  /** Puts a sealed signal on the bus; may drop it while the bus is away. */
  readonly publish: (subject: string, sealed: Uint8Array) => void;
  /** Where peers that were met before were reached directly, by public key. */
  readonly known: ReadonlyMap<string, readonly Endpoint[]>;
  /** To be known to the next process of this node. */
  readonly remember: (publicKey: string, endpoints: readonly Endpoint[]) => void;
  /** A relay says that the credential of the graph is used up. */
  readonly onCredentialExpired: () => void;
  /** Finds relays and STUN servers. */
  readonly lookup: Lookup;
  readonly log: Log;
}

/** How this node's peers are reached: opens the paths, keeps them, and tells the tunnel where each peer is. */
export interface Connectivity {
  /**
   * First step of a new graph: makes the loopback endpoint of every peer. Give each new peer of the tunnel its endpoint of
   * this map (by public key), so that the first packet has somewhere to go; leave out the endpoint of peers it has already.
   */
  admit(graph: FullGraph): Promise<ReadonlyMap<string, Endpoint>>;
  /** Second step, once the tunnel holds the peers: new peers are connected, those that left are forgotten. */
  updateGraph(graph: FullGraph): void;
  /** Takes a message from this node's own signal subject. Never throws. */
  receiveSignal(subject: string, sealed: Uint8Array): void;
  /** `down` until told otherwise. */
  busState(state: 'up' | 'down'): void;
  /** How the tunnel's peers are now; `statuses` knows it too from then on. */
  look(): Promise<readonly TunnelPeerState[]>;
  /** In the order of the graph. */
  statuses(): readonly PathStatus[];
  /** Every change of a peer's status, for `ping --until-direct` and logs. @returns stops listening */
  onChange(listener: (status: PathStatus) => void): () => void;
  /** Tries the direct path to a peer now instead of at the end of its back-off. */
  hurry(peerId: string): void;
  /** This host has other addresses or routes. */
  networkChanged(): void;
  /** Something took packet rules of this host away: those of the paths are put back. */
  restoreRules(): void;
  metrics(): ConnectivityMetrics;
  /** Takes away sockets, loopback addresses and packet rules. Idempotent. */
  close(): Promise<void>;
}

export interface ConnectivityMetrics {
  /** The nearest of several. */
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
    /** All relays of the graph; the first is that of nodes that know no other. */
    readonly all: readonly RelayView[];
  };
  readonly icePort: {
    /** True while STUN leaves and arrives by WireGuard's own port. */
    readonly isShared: boolean;
    /** Reason why it is not shared, for people; null when it is. */
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
