import { MeshError } from '../base/errors.ts';
import { formatInstant, parseInstant } from '../base/time.ts';
import {
  type FirewallEntry,
  type FullGraph,
  firewallDigest,
  type GraphPeer,
  type GraphSelf,
  type RelayGrant,
  sortedPeers,
  sortedRules,
} from '../model/graph.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { Allowed, PortRange } from '../reachability/port-sets.ts';
import type { Neighbourhood, Reachability } from '../reachability/reachability.ts';
import { MAX_WEIGHT, weightOf } from '../reachability/weight.ts';
import type { NetworkState } from '../state/state.ts';
import type { NetworkStates } from '../state/states.ts';

/** What of a graph does not follow from the network. */
export interface GraphSettings {
  readonly epoch: string;
  readonly reason: string;
  readonly relay: RelayGrant | null;
  readonly stun: readonly string[];
  readonly checkpoint: string | null;
}

/** The engine at a later instant at which policies end. */
export interface Ahead {
  readonly at: number;
  readonly reachability: Reachability;
}

/** Ends of policies that a graph tells apart; what ends later is told to end with the last of them, and renewed before. */
const ENDS_AHEAD = 32;
/** Weight of all engines that tell of them, so that fewer ends of a heavy network are told apart. */
const WEIGHT_AHEAD = MAX_WEIGHT;
/** So that what ends later is told anew before the nodes drop it. */
const LEAST_ENDS = 2;

/** The instants at which policies end, so that a node drops their rules by itself. */
export function endsAhead(states: Pick<NetworkStates, 'reachability'>, state: NetworkState, now: number): Ahead[] {
  const { instants, most } = endsOf(states, state, now);
  const last = instants.at(-1);
  if (last === undefined) return [];
  return instants.slice(0, most).map((at, index) => {
    const seenAs = index === most - 1 ? last : at;
    return { at, reachability: states.reachability(state, seenAs) };
  });
}

/** With what all that ends later is told to end; undefined where each end is told. Who was told another has to be told anew. */
export function horizonOf(
  states: Pick<NetworkStates, 'reachability'>,
  state: NetworkState,
  now: number,
): number | undefined {
  const { instants, most } = endsOf(states, state, now);
  return instants.length > most ? instants[most - 1] : undefined;
}

function endsOf(states: Pick<NetworkStates, 'reachability'>, state: NetworkState, now: number) {
  const ends = new Set<number>();
  for (const { spec } of state.policies.values()) {
    const at = spec.expiresAt === undefined ? Number.NaN : parseInstant(spec.expiresAt);
    if (at > now) ends.add(at);
  }
  const instants = [...ends].sort((a, b) => a - b);
  if (instants.length === 0) return { instants, most: ENDS_AHEAD };
  const bearable = Math.floor(WEIGHT_AHEAD / weightOf(states.reachability(state, now)));
  return { instants, most: Math.max(LEAST_ENDS, Math.min(ENDS_AHEAD, bearable)) };
}

/**
 * The whole graph of one node: the peers with which it has some allowed traffic, and the rules of that traffic.
 *
 * @throws MeshError `peer_pending` before approval: never an empty map.
 */
export function graphFor(
  state: NetworkState,
  reachability: Reachability,
  peer: PeerRecord,
  { epoch, reason, relay, stun, checkpoint }: GraphSettings,
  ahead: readonly Ahead[] = [],
): FullGraph {
  const self = selfOf(peer, state);
  const { outbound, inbound } = reachability.neighbourhood(peer.name);
  const later = ahead.map(({ at, reachability: then }) => {
    const around = then.neighbourhood(peer.name);
    return { at, out: allowedByName(around.outbound), in: allowedByName(around.inbound) };
  });
  const peers = new Map<string, GraphPeer>();
  const rules = (way: 'in' | 'out', neighbours: typeof outbound): FirewallEntry[] =>
    neighbours.flatMap(({ name, allowed }) => {
      const other = state.peers.get(name);
      if (!other || other.status.address === null) return [];
      peers.set(name, graphPeer(other, other.status.address));
      if (later.length === 0) return lastingEntries(other, other.status.address, allowed);
      const ends = later.map((then) => ({ at: then.at, allowed: then[way].get(name) ?? [] }));
      return withCidr(other.status.address, entriesOf(allowed, ends));
    });
  const full = sortedRules({ in: rules('in', inbound), out: rules('out', outbound) });
  return {
    kind: 'full',
    epoch,
    version: state.revision,
    reason,
    self,
    peers: sortedPeers(peers.values()),
    firewall: { digest: firewallDigest(full), full },
    relay,
    stun,
    checkpoint,
  };
}

function selfOf({ uid, name, spec, status }: PeerRecord, state: NetworkState): GraphSelf {
  if (status.phase === 'pending') {
    throw new MeshError(
      'peer_pending',
      `The device ${name} waits for the approval of an administrator. Ask again later.`,
    );
  }
  if (status.phase !== 'ready' || status.address === null) {
    throw new MeshError('forbidden', `The device ${name} is ${status.phase}: it has no network any more.`);
  }
  return {
    id: uid,
    name,
    address: status.address,
    cidr: state.networks.get(spec.network)?.spec.cidr ?? `${status.address}/32`,
    phase: 'ready',
    ...(spec.expiresAt !== undefined && { expiresAt: spec.expiresAt }),
  };
}

/** Records never change, and the graphs of all neighbours tell the same of one. */
const graphPeers = new WeakMap<PeerRecord, GraphPeer>();

function graphPeer(peer: PeerRecord, address: string): GraphPeer {
  const known = graphPeers.get(peer);
  if (known) return known;
  const { uid, name, spec } = peer;
  const made: GraphPeer = {
    id: uid,
    name,
    publicKey: spec.publicKey,
    address,
    allowedIps: [`${address}/32`],
    ...(spec.expiresAt !== undefined && { expiresAt: spec.expiresAt }),
  };
  graphPeers.set(peer, made);
  return made;
}

const EVERYTHING = {};
const entries = new WeakMap<PeerRecord, WeakMap<object, readonly FirewallEntry[]>>();

/** Rules that end with no policy, each made once for a peer and what is allowed. */
function lastingEntries(peer: PeerRecord, address: string, allowed: Allowed): readonly FirewallEntry[] {
  const ofPeer = entries.get(peer) ?? new WeakMap<object, readonly FirewallEntry[]>();
  entries.set(peer, ofPeer);
  const key = allowed === 'ALL' ? EVERYTHING : allowed;
  const made = ofPeer.get(key) ?? withCidr(address, permissions(allowed));
  ofPeer.set(key, made);
  return made;
}

function withCidr(address: string, permitted: readonly Permission[]): FirewallEntry[] {
  return permitted.map((entry) => ({ cidr: `${address}/32`, ...entry }));
}

function allowedByName(neighbours: Neighbourhood['outbound']): Map<string, Allowed> {
  return new Map(neighbours.map(({ name, allowed }) => [name, allowed]));
}

type Permission = Omit<FirewallEntry, 'cidr'>;

/** What is allowed now, each part until the first instant at which it no longer is. */
function entriesOf(allowed: Allowed, ends: readonly { at: number; allowed: Allowed }[]): Permission[] {
  return permissions(allowed).flatMap((permission): Permission[] => {
    const index = ends.findIndex((end) => !permissions(end.allowed).some((then) => covers(then, permission)));
    const end = ends[index];
    if (!end) return [permission];
    const rest = permissions(end.allowed).flatMap((then) => common(permission, then) ?? []);
    const staying = entriesOf(asAllowed(rest), ends.slice(index + 1));
    return [{ ...permission, expiresAt: formatInstant(end.at) }, ...staying];
  });
}

function permissions(allowed: Allowed): Permission[] {
  if (allowed === 'ALL') return [{ protocol: 'ALL' }];
  return allowed.map(({ protocol, from, to }) => ({
    protocol,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  }));
}

function asAllowed(permissions: readonly Permission[]): Allowed {
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
