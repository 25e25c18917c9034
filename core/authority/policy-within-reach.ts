import { containsRange, overlaps, parseCidr } from '../model/cidr.ts';
import type { EgressRule, PeerEntry, PolicySpec, PortEntry } from '../model/policy.ts';
import { matchesAnyone, rulesOf } from '../model/policy-match.ts';
import { selectorWithin } from '../model/selector-within.ts';
import { NO_PORTS, type PortSets } from '../reachability/port-sets.ts';
import type { NetworkState } from '../state/state.ts';
import type { Layers } from './agent-reach.ts';

/**
 * Tells how a policy could ever open more than an agent's reach, whichever peers come to match it later: within it, each
 * target is a part of what the reach names, on no more ports, and nobody comes in from outside the network. The effect on
 * the peers of today is judged elsewhere. For a delegated agent the same bounds hold for what it closes.
 *
 * Example: with the reach `role=db` on 5432, `ingress` for `role=db,tier=1` on 5432 is within; for `tier=1` it is not,
 * because a peer with that label need not be a database.
 *
 * @returns the end of a sentence that names the excess; undefined where all is within
 */
export function policyBeyond(
  spec: PolicySpec,
  layers: Layers,
  state: NetworkState,
  ports: PortSets,
  isDelegated: boolean,
): string | undefined {
  if (spec.action !== 'ALLOW' && !isDelegated) return undefined;
  const reach = { layers, ports, peers: state.peers };
  const subject: PeerEntry = { peerSelector: spec.peerSelector ?? {} };
  for (const rule of rulesOf(spec, 'ingress') ?? []) {
    if (!isWithin([subject], rule.ports, reach)) return 'is about peers or ports beyond its reach';
    if (spec.action === 'ALLOW' && isOpenToOutside(rule.peers, state)) return 'lets in addresses that are no peer';
  }
  for (const rule of rulesOf(spec, 'egress') ?? []) {
    if (!isWithin(rule.peers, rule.ports, reach)) return 'is about targets or ports beyond its reach';
  }
  return undefined;
}

export interface Reach {
  readonly layers: Layers;
  readonly ports: PortSets;
  readonly peers: NetworkState['peers'];
}

/** Tells whether every layer holds all entries on all ports. No entry means anyone, as in a rule. */
export function isWithin(
  entries: readonly PeerEntry[],
  asked: readonly PortEntry[],
  { layers, ports, peers }: Reach,
): boolean {
  const wanted = ports.ofEntries(asked);
  const all: readonly PeerEntry[] = entries.length > 0 ? entries.flatMap(oneByOne) : ['*'];
  return layers.every((rules) =>
    all.every((entry) => {
      const holding = rules.filter((rule) => holdsEntry(rule, entry, peers));
      const held = holding.reduce((set, rule) => ports.union(set, ports.ofEntries(rule.ports ?? [])), NO_PORTS);
      return ports.minus(wanted, held) === NO_PORTS;
    }),
  );
}

/** Listed peers each for themselves: one may be held by one rule, and another one by another. */
function oneByOne(entry: PeerEntry): PeerEntry[] {
  if (entry === '*' || !entry.peerSelector?.peers) return [entry];
  const { peers, ...rest } = entry.peerSelector;
  return peers.map((id) => ({ peerSelector: { ...rest, peers: [id] } }));
}

function holdsEntry({ to }: EgressRule, entry: PeerEntry, peers: Reach['peers']): boolean {
  return matchesAnyone(to) || (to ?? []).some((outer) => entryWithin(entry, outer, peers));
}

function entryWithin(inner: PeerEntry, outer: PeerEntry, peers: Reach['peers']): boolean {
  if (outer === '*') return true;
  if (inner === '*') return false;
  if (inner.peerSelector && outer.peerSelector) return selectorWithin(inner.peerSelector, outer.peerSelector, peers);
  if (!inner.ipBlock || !outer.ipBlock) return false;
  const [small, large] = [parseCidr(inner.ipBlock.cidr), parseCidr(outer.ipBlock.cidr)];
  if (!small || !large || !containsRange(large, small)) return false;
  return (outer.ipBlock.except ?? []).every((text) => {
    const hole = parseCidr(text);
    return hole !== undefined && !overlaps(small, hole);
  });
}

/** Tells whether a rule lets in anyone who is no peer of a network. */
function isOpenToOutside(from: readonly PeerEntry[], { networks }: NetworkState): boolean {
  if (matchesAnyone(from)) return true;
  return from.some((entry) => {
    if (entry === '*' || !entry.ipBlock) return false;
    const block = parseCidr(entry.ipBlock.cidr);
    return !block || ![...networks.values()].some(({ spec }) => isInside(block, spec.cidr));
  });
}

function isInside(block: NonNullable<ReturnType<typeof parseCidr>>, cidr: string): boolean {
  const network = parseCidr(cidr);
  return network !== undefined && containsRange(network, block);
}
