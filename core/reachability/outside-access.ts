import { parseCidr } from '../model/cidr.ts';
import { type Ranges, sizeOf } from '../model/ranges.ts';
import { classOfPeer } from './endpoint-class.ts';
import { blocksAt, withEndpoints, withExternals } from './externals.ts';
import { externalOf, networksOf, stretchesOf } from './outside.ts';
import { type PlaceGroups, placeGroups } from './pairs-between.ts';
import { type AllowedPorts, NO_PORTS } from './port-sets.ts';
import type { Reachability } from './reachability.ts';

type Side = 'ingress' | 'egress';

/** Addresses outside of the networks, and what they may open at some peers or these at them. */
export interface OpenRanges {
  readonly ranges: Ranges;
  readonly allowed: AllowedPorts;
}

/** Connections open between addresses outside and peers that policies do not distinguish. */
export interface OutsideAccess {
  readonly peers: readonly string[];
  /** Undefined where policies tell more addresses apart than can be tried. */
  readonly open: readonly OpenRanges[] | undefined;
}

/** Kinds of peers times stretches of addresses that are tried at once. */
const MAX_AT_ONCE = 500_000;

/**
 * Returns what addresses outside may open at each of some peers (`ingress`), or these peers at them (`egress`), isolation and
 * default actions included. Skips unknown names.
 */
export function outsideAccess(reach: Reachability, names: Iterable<string>, side: Side): OutsideAccess[] {
  const groups = placeGroups(reach, names);
  const together = jointAccess(reach, groups, side);
  return together ?? groups.flatMap((group) => jointAccess(reach, [group], side) ?? [unknownAccess(reach, group)]);
}

function jointAccess(reach: Reachability, groups: PlaceGroups, side: Side): OutsideAccess[] | undefined {
  const blocks = blocksAt(
    reach,
    groups.flatMap(([first]) => first ?? []),
  );
  const stretches = stretchesOf([...blocks], networksOf(reach));
  if (!stretches || stretches.length * groups.length > MAX_AT_ONCE) return undefined;
  const externals = stretches.map(externalOf);
  const all = withExternals(reach, externals);
  const places = externals.map(({ name }) => all.placeOf(name));
  return groups.map((group) => {
    const [peer = 0] = group;
    const open = stretches.flatMap((ranges, index): OpenRanges[] => {
      const other = places[index];
      const set = other === undefined ? NO_PORTS : side === 'ingress' ? all.pair(other, peer) : all.pair(peer, other);
      return set === NO_PORTS ? [] : [{ ranges, allowed: reach.parts.ports.describe(set) }];
    });
    return { peers: group.map((place) => reach.nameOf(place)), open };
  });
}

function unknownAccess(reach: Reachability, group: readonly number[]): OutsideAccess {
  return { peers: group.map((place) => reach.nameOf(place)), open: undefined };
}

/**
 * The peers of some by which a device is let in that joins their network without labels and that no policy lists
 * (`ingress`), or which are let out to it (`egress`), by their own policies, whatever those of the device say. Where
 * policies name addresses of the network, it is meant with at least half of those that it may get.
 */
export function openToFuturePeers(reach: Reachability, names: Iterable<string>, side: Side): string[] {
  const groups = placeGroups(reach, names);
  const newcomers = futurePeersOf(reach, groups);
  const all = newcomers && withFuturePeers(reach, newcomers);
  return groups.flatMap((group) => {
    const [peer = 0] = group;
    const isOpen = (name: string) => {
      const newcomer = all?.placeOf(name);
      if (!all || newcomer === undefined) return true;
      return (side === 'ingress' ? all.ingress(newcomer, peer) : all.egress(peer, newcomer)) !== NO_PORTS;
    };
    const own = newcomers?.filter(({ network }) => network === reach.parts.endpoints[peer]?.network) ?? [];
    const sizeOfAll = (some: typeof own) => some.reduce((sum, { size }) => sum + size, 0n);
    const open = sizeOfAll(own.filter(({ name }) => isOpen(name)));
    const isMeant = newcomers === undefined || (open > 0n && open * 2n >= sizeOfAll(own));
    return isMeant ? group.map((place) => reach.nameOf(place)) : [];
  });
}

/** By network what two devices that join it without labels, and that no policy lists, may open at each other. */
export function betweenFuturePeers(reach: Reachability): ReadonlyMap<string, AllowedPorts> {
  const newcomers = futurePeersOf(
    reach,
    placeGroups(
      reach,
      reach.model.peers.map(({ name }) => name),
    ),
  );
  const networks = Map.groupBy(newcomers ?? [], ({ network }) => network);
  const pairs = [...networks].map(([network, own]) => {
    const [largest] = own.toSorted((a, b) => (a.size < b.size ? 1 : -1));
    return { network, two: largest ? [largest, { ...largest, name: `${largest.name} too` }] : [] };
  });
  const all = withFuturePeers(
    reach,
    pairs.flatMap(({ two }) => two),
  );
  return new Map(
    pairs.flatMap(({ network, two }) => {
      const [one, other] = two.map(({ name }) => all.placeOf(name));
      if (one === undefined || other === undefined) return [];
      return [[network, reach.parts.ports.describe(all.pair(one, other))] as const];
    }),
  );
}

interface FuturePeer {
  /** With a space, which no name of a peer has: no policy lists it. */
  readonly name: string;
  readonly network: string;
  readonly address: string | undefined;
  /** How many addresses of the network it stands for. */
  readonly size: bigint;
}

/** Returns a future peer for each part of a network that policies about some peers distinguish; undefined for too many. */
function futurePeersOf(reach: Reachability, groups: PlaceGroups): FuturePeer[] | undefined {
  const blocks = [
    ...blocksAt(
      reach,
      groups.flatMap(([first]) => first ?? []),
    ),
  ];
  const found: FuturePeer[] = [];
  for (const { name: network, cidr } of reach.model.networks) {
    const range = parseCidr(cidr);
    const parts = range ? stretchesOf(blocks, [], [range]) : [];
    if (parts === undefined || parts.length * groups.length > MAX_AT_ONCE) return undefined;
    const newcomers = parts.map((part): FuturePeer => {
      const address = externalOf(part).range;
      return { name: `a newcomer at ${address} in ${network}`, network, address: `${address}`, size: sizeOf(part) };
    });
    const whole = { name: `a newcomer in ${network}`, network, address: undefined, size: 1n };
    found.push(...(newcomers.length > 0 ? newcomers : [whole]));
  }
  return found;
}

function withFuturePeers(reach: Reachability, newcomers: readonly FuturePeer[]): Reachability {
  const { projection } = reach.parts.space;
  const added = newcomers.map(({ name, network, address }) => {
    return { name, network, kind: classOfPeer({ name, labels: {}, network, address }, projection) };
  });
  return withEndpoints(reach, added, reach.model);
}
