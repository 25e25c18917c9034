import type { Log } from '../../core/base/ports.ts';
import type { Place } from '../places.ts';
import type { NetworkWatch } from './network-watch.ts';

/** Where packets for a peer are sent: an IP address in its usual text form, and a UDP port. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export interface TunnelPeer {
  /** X25519, base64. */
  readonly publicKey: string;
  readonly allowedIps: readonly string[];
  /** Left out: the endpoint that the tunnel has now stays. */
  readonly endpoint?: Endpoint;
  /** Seconds; 0 is off. */
  readonly keepalive: number;
}

export interface TunnelPeerState {
  readonly publicKey: string;
  readonly allowedIps: readonly string[];
  readonly endpoint: Endpoint | null;
  /** Milliseconds since the epoch; null before the first handshake. */
  readonly handshakeAt: number | null;
  readonly receivedBytes: number;
  readonly sentBytes: number;
}

export interface TunnelOptions {
  readonly interfaceName: string;
  /** X25519, 32 bytes. */
  readonly privateKey: Uint8Array;
  /** UDP. */
  readonly listenPort: number;
  /** This node's overlay address, without a length. */
  readonly address: string;
  /** The overlay: what is routed into the tunnel, and nothing else. */
  readonly cidr: string;
  /** Bytes of a packet inside the tunnel. */
  readonly mtu: number;
  /** Aborted once nobody waits for the tunnel any more. */
  readonly ending?: AbortSignal;
  readonly log: Log;
}

export interface Obstacle {
  readonly missing: string;
  readonly remedy: string;
  /** No interface can be made, whatever rights the process has. */
  readonly isOfDevice?: true;
}

/** A WireGuard interface that this process made or took over, and will take away. */
export interface Tunnel {
  readonly kind: 'kernel' | 'wireguard-go' | 'userspace';
  /** True where some peers may have IPv4 endpoints and others IPv6 ones. */
  readonly mixesFamilies: boolean;
  readonly interfaceName: string;
  readonly listenPort: number;
  /** Peers at the time when this process took it over from an earlier one; empty for a new interface. */
  readonly inherited: readonly TunnelPeerState[];
  /** Adds peers or changes them, and removes others, by public key, in one step. */
  change(put: readonly TunnelPeer[], removed: readonly string[]): Promise<void>;
  /** Session keys survive: no handshake follows. */
  setEndpoint(publicKey: string, endpoint: Endpoint): Promise<void>;
  /**
   * Begins a handshake with a peer that it holds, as far as WireGuard has no session with it; `isRenewal`: after it has forgotten
   * the one it has, with what that counted.
   */
  handshake(publicKey: string, isRenewal: boolean): Promise<void>;
  setPrivateKey(privateKey: Uint8Array): Promise<void>;
  /** Has these addresses alone from now on, and routes their blocks. One that stays is not touched. */
  setPlaces(places: readonly Place[]): Promise<void>;
  peers(): Promise<readonly TunnelPeerState[]>;
  /** Resolves with the reason when the interface is gone or its process has ended, and after `close`. */
  readonly ended: Promise<string>;
  /** Takes interface and routes away. Idempotent. */
  close(): Promise<void>;
}

/** All that depends on the operating system. One implementation a platform. */
export interface TunnelPlatform {
  /** Empty when a tunnel can be made here. */
  obstacles(): Promise<readonly Obstacle[]>;
  /** Existing routes that a block would collide with, for the message; those of `interfaceName` do not count. */
  collisions(cidr: string, interfaceName: string): Promise<readonly string[]>;
  /**
   * The tunnel that an earlier agent left under this name, with its sessions. Peers keep talking while it changes hands.
   *
   * @returns undefined where there is none, or it is not as asked: `recover` then takes it away
   */
  takeOver(options: TunnelOptions): Promise<Tunnel | undefined>;
  /**
   * Takes away what a crash of an earlier agent left under this name. Idempotent.
   *
   * @param publicKey of the node, base64: by it an interface is known whose note is lost
   */
  recover(interfaceName: string, publicKey?: string): Promise<void>;
  open(options: TunnelOptions): Promise<Tunnel>;
  /** Tells of changes of the host's addresses and routes, those of `interfaceName` apart. */
  watchNetwork(interfaceName: string, log: Log, onChange: () => void): NetworkWatch;
}
