import type { EventEmitter } from 'node:events';
import type { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Dispatcher, fetch } from 'undici';

/** Describes the package's `./node`; it imports nothing of the product, so that its declarations stand alone. */

export interface JoinOptions {
  /** Address of the control plane, `https://mesh.example.com`. */
  readonly server: string;
  /** A join token, or the enrollment token that a parent agent delegated. */
  readonly token: string;
  /** OIDC token of this workload, where the join token asks for one. */
  readonly identity?: string;
  /** Name of the peer; left out: the host name, or the name that the delegation gave. */
  readonly name?: string;
  /** Ends the join, and later the node. */
  readonly signal?: AbortSignal;
  /** Where the identity is kept for the next start; left out: in memory, and the peer is deleted when the node closes. */
  readonly directory?: string;
  /** Takes what the node has to say; left out: nobody hears it. */
  readonly log?: MeshLog;
  /** Signs in to a message bus on another host without TLS, too. */
  readonly busInClear?: boolean;
}

export interface MeshLog {
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

/** A peer of the network that lives in this process. */
export interface MeshNode {
  /** As the global `fetch`, to peers: `http://db:8080/`. */
  readonly fetch: typeof fetch;
  /** Takes requests of `node:http` to peers: `{ agent: net.httpAgent }`. */
  readonly httpAgent: Agent;
  /** Takes requests of undici to peers, HTTP and HTTPS. */
  readonly dispatcher: Dispatcher;
  /** Resolves once the node has ended: closed here, or removed by the control plane, as at the end of its ttl. */
  readonly ended: Promise<MeshEnd>;
  /**
   * Begins a connection to a TCP port of a peer. The stream emits `connect`, or `error` with a code such as `EACCES` where no policy
   * permits it. With `udp` it is a flow to a UDP port: each chunk is one datagram, and it ends after 2 minutes without one.
   *
   * @param peer name or address
   */
  connect(peer: string, port: number, options?: PortOptions): Duplex;
  /**
   * Takes connections of peers to a TCP port of this node, as policy permits; with `udp` flows to a UDP port.
   *
   * @throws Error with code `conflict` where the port is served already
   */
  listen(port: number, options?: PortOptions): Promise<MeshListener>;
  status(): Promise<MeshStatus>;
  /** Ends connections, listeners and the node. Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface PortOptions {
  readonly signal?: AbortSignal;
  /** A UDP port. */
  readonly udp?: boolean;
}

/** Emits `connection` for each connection of a peer, and `close`. */
export interface MeshListener extends EventEmitter<{ connection: [Duplex]; close: [] }> {
  readonly port: number;
  /** Connections that are there stay. Idempotent. */
  close(): void;
}

export interface MeshEnd {
  readonly why: 'closed' | 'removed';
  /** For people. */
  readonly detail: string;
}

export interface MeshStatus {
  readonly name: string;
  /** Null while the overlay is down. */
  readonly address: string | null;
  /** Block of the network. */
  readonly cidr: string | null;
  /** ISO 8601; null where it does not end by itself. */
  readonly expiresAt: string | null;
  readonly peers: readonly MeshPeer[];
  /** Reasons why the node does not work as it should; empty while it does. */
  readonly trouble: string;
}

export interface MeshPeer {
  readonly name: string;
  readonly address: string;
  readonly state: 'connected' | 'idle' | 'connecting' | 'unreachable';
  /** Null while there is none. */
  readonly path: 'direct' | 'relayed' | null;
}

/**
 * Joins a network from this process, and resolves once the node is up; where an administrator has to approve it, after that.
 *
 * @throws Error with a `code`: of the control plane's refusal, or `unavailable`; the signal's reason once that is aborted
 */
export type Join = (options: JoinOptions) => Promise<MeshNode>;
