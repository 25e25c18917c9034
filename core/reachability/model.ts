import type { EgressRule } from '../model/policy.ts';

/** Everything reachability follows from, at one instant. Plain data; the engine never changes it. */
export interface NetworkModel {
  readonly networks: readonly NetworkInput[];
  readonly peers: readonly PeerInput[];
  readonly policies: readonly PolicyInput[];
  readonly externals?: readonly ExternalInput[];
  /** Milliseconds since the epoch. What has expired by then does not count. */
  readonly now: number;
}

export interface NetworkInput {
  readonly name: string;
  readonly cidr: string;
  readonly defaultAction: 'ALLOW' | 'DENY';
}

export interface PeerInput {
  /** Unique among peers and externals. */
  readonly name: string;
  readonly uid?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly network: string;
  /** Overlay address. A peer without one is matched by no `ipBlock`. */
  readonly address?: string | undefined;
  /** `ready` when left out; anything but `ready` makes the peer unreachable. */
  readonly phase?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
  readonly bound?: DelegationBound | undefined;
}

/**
 * The most a delegated peer may open: what its parent's peer may open at that instant, or, below a root agent without a
 * peer, the `reach` a person gave that. An unknown ancestor means nothing.
 */
export type DelegationBound = { readonly ancestor: string } | { readonly reach: readonly EgressRule[] };

export interface PolicyInput {
  readonly name: string;
  /** A PolicySpec. Anything else, as an older or newer version may have stored, fails closed. */
  readonly spec: unknown;
}

/** Addresses that belong to no peer, written as a CIDR, one address or `first-last`. */
export interface ExternalInput {
  readonly name: string;
  readonly range: string | readonly [first: string, last: string];
}

export type Direction = 'egress' | 'ingress';
