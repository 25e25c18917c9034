import { formatInstant } from '../base/time.ts';
import { formerAddressOf } from '../changes/renumber.ts';
import {
  type FirewallEntry,
  type FirewallRules,
  firewallDigest,
  type GraphPeer,
  sortedPeers,
  sortedRules,
} from '../model/graph.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { AllowedPorts } from '../reachability/port-sets.ts';
import type { Reachability } from '../reachability/reachability.ts';
import type { NetworkState } from '../state/state.ts';
import type { FutureView } from './future-views.ts';

/**
 * Computes the part of a node's graph that follows from the network, pair by pair for this node alone: the shared views must
 * give the same result.
 */
export function plainSurroundings(
  state: NetworkState,
  now: Reachability,
  ahead: readonly FutureView[],
  { name }: PeerRecord,
) {
  const told: GraphPeer[] = [];
  const rules: { in: FirewallEntry[]; out: FirewallEntry[] } = { in: [], out: [] };
  for (const other of state.peers.values()) {
    const { address } = other.status;
    if (other.name === name || address === null) continue;
    const former = formerAddressOf(other, state);
    const allowedIps = [address, ...(former ? [former.address] : [])].map((one) => `${one}/32`);
    const [into, out] = [
      ['in', other.name, name],
      ['out', name, other.name],
    ].map(([way, src = '', dst = '']) => {
      const entries = plainEntries(
        entriesOf(now.allowed(src, dst)),
        ahead.map(({ at, reachability }) => ({ at, allowed: reachability.allowed(src, dst) })),
      );
      const own = allowedIps.flatMap((cidr) => entries.map((entry) => ({ cidr, ...entry })));
      rules[way as 'in' | 'out'].push(...own);
      return own;
    });
    if ((into?.length ?? 0) + (out?.length ?? 0) === 0) continue;
    const { uid, spec } = other;
    const ends = spec.expiresAt !== undefined && { expiresAt: spec.expiresAt };
    told.push({ id: uid, name: other.name, publicKey: spec.publicKey, address, allowedIps, ...ends });
  }
  const full: FirewallRules = sortedRules(rules);
  return { peers: sortedPeers(told), firewall: { digest: firewallDigest(full), full } };
}

type Entry = Omit<FirewallEntry, 'cidr'>;

/** A permission ends where a later view does not allow all of it; what that leaves of it has ends of its own. */
function plainEntries(
  entries: readonly Entry[],
  later: readonly { readonly at: number; readonly allowed: AllowedPorts }[],
): Entry[] {
  return entries.flatMap((entry): Entry[] => {
    const gone = later.findIndex((then) => !entriesOf(then.allowed).some((one) => contains(one, entry)));
    const end = later[gone];
    if (end === undefined) return [entry];
    const staying = entriesOf(end.allowed).flatMap((one) => common(entry, one));
    return [{ ...entry, expiresAt: formatInstant(end.at) }, ...plainEntries(staying, later.slice(gone + 1))];
  });
}

function entriesOf(allowed: AllowedPorts): Entry[] {
  return allowed === 'ALL' ? [{ protocol: 'ALL' }] : (allowed as Entry[]);
}

function contains(outer: Entry, inner: Entry): boolean {
  const [shared] = common(outer, inner);
  return shared?.protocol === inner.protocol && shared.from === inner.from && shared.to === inner.to;
}

/** Returns the permission that two permissions share; empty where they share none. */
function common(one: Entry, other: Entry): Entry[] {
  if (one.protocol === 'ALL') return [other];
  if (other.protocol === 'ALL') return [one];
  if (one.protocol !== other.protocol) return [];
  if (one.from === undefined || one.to === undefined) return [other];
  if (other.from === undefined || other.to === undefined) return [one];
  const [from, to] = [Math.max(one.from, other.from), Math.min(one.to, other.to)];
  return from <= to ? [{ protocol: one.protocol, from, to }] : [];
}
