import { createHash } from 'node:crypto';

/**
 * What a node is told (docs/wire.md#graph). The control plane compiles it, a node renders it to WireGuard and nftables; it
 * holds no labels and no policies. Instants are ISO 8601 UTC. Lists have one order, so equal graphs are equal values.
 */
export interface GraphSelf {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  /** The block of its network: what the node routes into the overlay. */
  readonly cidr: string;
  readonly phase: 'ready';
  readonly expiresAt?: string;
}

export interface GraphPeer {
  readonly id: string;
  readonly name: string;
  /** X25519, base64. */
  readonly publicKey: string;
  readonly address: string;
  readonly allowedIps: readonly string[];
  /** The node drops the peer then, also without the control plane. */
  readonly expiresAt?: string;
}

/** One permission. `ALL` is every protocol; ICMP and ALL have no ports. Whatever no entry permits is dropped. */
export interface FirewallEntry {
  readonly cidr: string;
  readonly protocol: 'ALL' | 'TCP' | 'UDP' | 'SCTP' | 'ICMP';
  readonly from?: number;
  readonly to?: number;
  readonly expiresAt?: string;
}

export interface FirewallRules {
  /** Who may open connections to this node. */
  readonly in: readonly FirewallEntry[];
  /** To whom this node may open connections. */
  readonly out: readonly FirewallEntry[];
}

export interface RelayGrant {
  /** `host:port`, or `lrps://host:port` where the relay speaks TLS. */
  readonly url: string;
  readonly credential: string;
  /** Both in one, `lrp://<credential>@host:port`, for clients that take an address; as secret as the credential. */
  readonly address?: string;
  readonly expiresAt: string;
}

interface GraphHead {
  /** Changes when the store was restored; only then may the version go down. */
  readonly epoch: string;
  /** Revision of the workspace. */
  readonly version: number;
  readonly reason: string;
  readonly self: GraphSelf;
  /** Null where the control plane has no relay. */
  readonly relay: RelayGrant | null;
  /** host:port of STUN servers. */
  readonly stun: readonly string[];
  /** Signed checkpoint of the audit log; null where there is none yet. */
  readonly checkpoint: string | null;
}

export interface FullGraph extends GraphHead {
  readonly kind: 'full';
  readonly peers: readonly GraphPeer[];
  readonly firewall: { readonly digest: string; readonly full: FirewallRules };
}

export interface DeltaGraph extends GraphHead {
  readonly kind: 'delta';
  /** The version last sent to this node; a node at an older one asks for the full graph. */
  readonly base: number;
  readonly peers: {
    readonly added: readonly GraphPeer[];
    readonly updated: readonly GraphPeer[];
    readonly removed: readonly string[];
  };
  readonly firewall: {
    /** Of the rules after the delta. */
    readonly digest: string;
    readonly delta: { readonly added: FirewallRules; readonly removed: FirewallRules };
  };
}

/** Sent in place of a graph that is too large for one message of the bus: the node fetches it over the API. */
export interface FetchGraph {
  readonly kind: 'fetch';
  readonly epoch: string;
  readonly version: number;
  readonly reason: string;
}

/** What leads from one full graph of a node to a later one. */
export function deltaOf(before: FullGraph, after: FullGraph): DeltaGraph {
  const [old, now] = [byId(before.peers), byId(after.peers)];
  const { kind: _kind, peers: _peers, firewall, ...head } = after;
  return {
    ...head,
    kind: 'delta',
    base: before.version,
    peers: {
      added: after.peers.filter(({ id }) => !old.has(id)),
      updated: after.peers.filter((peer) => old.has(peer.id) && !sameJson(old.get(peer.id), peer)),
      removed: before.peers.filter(({ id }) => !now.has(id)).map(({ id }) => id),
    },
    firewall: {
      digest: firewall.digest,
      delta: {
        added: minus(firewall.full, before.firewall.full),
        removed: minus(before.firewall.full, firewall.full),
      },
    },
  };
}

/**
 * The full graph after a delta. A node that fetched its graph may hold a later version than the delta's base, of the same
 * contents unless something concerned it in between: the digest tells.
 *
 * @returns undefined when the delta does not fit: its base was missed, or the rules do not give its digest. The node then
 * asks for the full graph.
 */
export function applyDelta(before: FullGraph, delta: DeltaGraph): FullGraph | undefined {
  const { version, epoch } = before;
  if (version < delta.base || version >= delta.version || epoch !== delta.epoch) return undefined;
  const peers = byId(before.peers);
  for (const id of delta.peers.removed) peers.delete(id);
  for (const peer of [...delta.peers.updated, ...delta.peers.added]) peers.set(peer.id, peer);
  const { added, removed } = delta.firewall.delta;
  const kept = minus(before.firewall.full, removed);
  const full = sortedRules({ in: [...kept.in, ...added.in], out: [...kept.out, ...added.out] });
  if (firewallDigest(full) !== delta.firewall.digest) return undefined;
  const { kind: _kind, base: _base, peers: _peers, firewall: _firewall, ...head } = delta;
  return {
    ...head,
    kind: 'full',
    peers: sortedPeers(peers.values()),
    firewall: { digest: delta.firewall.digest, full },
  };
}

/** SHA-256 in hex over the rules in their order. */
export function firewallDigest(rules: FirewallRules): string {
  const lines = (['in', 'out'] as const).flatMap((way) => rules[way].map((entry) => `${way} ${keyOf(entry)}\n`));
  return createHash('sha256').update(lines.join('')).digest('hex');
}

export function sortedRules(rules: FirewallRules): FirewallRules {
  return { in: inOrder(rules.in, keyOf), out: inOrder(rules.out, keyOf) };
}

export function sortedPeers(peers: Iterable<GraphPeer>): GraphPeer[] {
  return inOrder([...peers], ({ id }) => id);
}

function inOrder<T>(items: readonly T[], key: (item: T) => string): T[] {
  return items
    .map((item) => [key(item), item] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, item]) => item);
}

function minus(rules: FirewallRules, without: FirewallRules): FirewallRules {
  const left = (way: 'in' | 'out') => {
    const gone = new Set(without[way].map(keyOf));
    return rules[way].filter((entry) => !gone.has(keyOf(entry)));
  };
  return { in: left('in'), out: left('out') };
}

const keys = new WeakMap<FirewallEntry, string>();

/** A line that says all of an entry, whatever the order of its fields. */
function keyOf(entry: FirewallEntry): string {
  const known = keys.get(entry);
  if (known !== undefined) return known;
  const { cidr, protocol, from, to, expiresAt } = entry;
  const key = `${cidr} ${protocol} ${from ?? '-'} ${to ?? '-'} ${expiresAt ?? '-'}`;
  keys.set(entry, key);
  return key;
}

function byId(peers: readonly GraphPeer[]): Map<string, GraphPeer> {
  return new Map(peers.map((peer) => [peer.id, peer]));
}

function sameJson(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
