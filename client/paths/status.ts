import type { Endpoint } from '../tunnel/tunnel.ts';

/** The contract's words, and `failed` and `closed` (docs/node.md#commands). */
export type Transport = 'probing' | 'ice-ready' | 'lrp-ready' | 'failed' | 'closed';

/** How one peer is reached now. */
export interface PathStatus {
  readonly peerId: string;
  readonly transport: Transport;
  /** Null while no path is open. */
  readonly path: 'direct' | 'relayed' | null;
  /** The address that WireGuard sends to; in fd6c:7270:: when relayed. */
  readonly endpoint: Endpoint | null;
  /** Name of the relay that carries its packets, where there are several; null while it is not relayed. */
  readonly relay: string | null;
  /** Why it is not direct, or which candidates made it so: one code and one sentence for people. */
  readonly reason: { readonly code: PathReason; readonly detail: string };
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Packets of a WireGuard session with the peer's present tunnel passed in both directions. */
  readonly hasSession: boolean;
  /** How long nothing came from the peer since a packet was sent that WireGuard answers; null where it answered. */
  readonly silentMs: number | null;
  /** Round trip of the last check of the direct path; null when relayed. */
  readonly roundTripMs: number | null;
}

export type PathReason =
  | 'new'
  | 'signalling'
  | 'checking'
  | 'direct'
  | 'no-bus'
  | 'peer-silent'
  | 'no-stun'
  | 'no-candidates'
  | 'checks-failed'
  | 'consent-lost'
  | 'large-packets'
  | 'port-not-shared'
  | 'relay-away'
  | 'left';
