import { formatInstant } from '../base/time.ts';
import type { FirewallEntry, GraphPeer } from '../model/graph.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { AllowedPorts, PortRange } from '../reachability/port-sets.ts';

/** Records never change, and the graphs of all neighbours tell the same of one. */
const graphPeers = new WeakMap<PeerRecord, GraphPeer>();

/**
 * @param addresses its address, and the one before while its network is being renumbered
 */
export function graphPeer(peer: PeerRecord, addresses: readonly string[]): GraphPeer {
  const known = graphPeers.get(peer);
  // A record has one address before at most: another renumbering writes it anew.
  if (known?.allowedIps.length === addresses.length) return known;
  const { uid, name, spec } = peer;
  const made: GraphPeer = {
    id: uid,
    name,
    publicKey: spec.publicKey,
    address: addresses[0] ?? '',
    allowedIps: addresses.map((one) => `${one}/32`),
    ...(spec.expiresAt !== undefined && { expiresAt: spec.expiresAt }),
  };
  graphPeers.set(peer, made);
  return made;
}

/** The part of the allowed ports that remains at a later instant. */
export interface FutureAllowance {
  readonly at: number;
  readonly allowed: AllowedPorts;
}

/**
 * The rules of traffic with a peer.
 *
 * @param addresses as of {@link graphPeer}
 */
export function rulesWith(
  peer: PeerRecord,
  addresses: readonly string[],
  allowed: AllowedPorts,
  ends: readonly FutureAllowance[],
): readonly FirewallEntry[] {
  if (ends.length === 0) return lastingEntries(peer, addresses, allowed);
  return withCidrs(addresses, entriesOf(allowed, ends));
}

const EVERYTHING = {};
const entries = new WeakMap<PeerRecord, WeakMap<object, readonly FirewallEntry[]>>();

/** Rules that end with no policy, each made once for a peer and what is allowed. */
function lastingEntries(
  peer: PeerRecord,
  addresses: readonly string[],
  allowed: AllowedPorts,
): readonly FirewallEntry[] {
  if (addresses.length > 1) return withCidrs(addresses, permissions(allowed));
  const ofPeer = entries.get(peer) ?? new WeakMap<object, readonly FirewallEntry[]>();
  entries.set(peer, ofPeer);
  const key = allowed === 'ALL' ? EVERYTHING : allowed;
  const made = ofPeer.get(key) ?? withCidrs(addresses, permissions(allowed));
  ofPeer.set(key, made);
  return made;
}

function withCidrs(addresses: readonly string[], permitted: readonly Permission[]): FirewallEntry[] {
  return addresses.flatMap((address) => permitted.map((entry) => ({ cidr: `${address}/32`, ...entry })));
}

type Permission = Omit<FirewallEntry, 'cidr'>;

/** Returns the present permissions, each until the first instant at which it ends. */
function entriesOf(allowed: AllowedPorts, ends: readonly FutureAllowance[]): Permission[] {
  return permissions(allowed).flatMap((permission): Permission[] => {
    const index = ends.findIndex((end) => !permissions(end.allowed).some((then) => covers(then, permission)));
    const end = ends[index];
    if (!end) return [permission];
    const rest = permissions(end.allowed).flatMap((then) => common(permission, then) ?? []);
    const staying = entriesOf(asAllowed(rest), ends.slice(index + 1));
    return [{ ...permission, expiresAt: formatInstant(end.at) }, ...staying];
  });
}

function permissions(allowed: AllowedPorts): Permission[] {
  if (allowed === 'ALL') return [{ protocol: 'ALL' }];
  return allowed.map(({ protocol, from, to }) => ({
    protocol,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  }));
}

function asAllowed(permissions: readonly Permission[]): AllowedPorts {
  return permissions.some(({ protocol }) => protocol === 'ALL') ? 'ALL' : (permissions as PortRange[]);
}

function covers(outer: Permission, inner: Permission): boolean {
  if (outer.protocol === 'ALL') return true;
  if (outer.protocol !== inner.protocol) return false;
  return (outer.from ?? 0) <= (inner.from ?? 0) && (inner.to ?? 0) <= (outer.to ?? 0);
}

function common(a: Permission, b: Permission): Permission | undefined {
  if (a.protocol === 'ALL') return b;
  if (b.protocol === 'ALL') return a;
  if (a.protocol !== b.protocol) return undefined;
  if (a.from === undefined || b.from === undefined) return a;
  const [from, to] = [Math.max(a.from, b.from), Math.min(a.to ?? 0, b.to ?? 0)];
  return from <= to ? { protocol: a.protocol, from, to } : undefined;
}
