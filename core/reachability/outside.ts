import { type IpRange, parseCidr } from '../model/cidr.ts';
import { addressText, EVERY_ADDRESS, intersection, type Ranges, union, without } from '../model/ranges.ts';
import { blocksAt, withExternals } from './externals.ts';
import { touchedUnits } from './joint-units.ts';
import type { ExternalInput } from './model.ts';
import type { Allowed } from './port-sets.ts';
import type { BlockCode } from './program.ts';
import { rangeNames } from './range-names.ts';
import type { Reachability } from './reachability.ts';

/** First and last addresses of the blocks in policies of touched peers. A stored policy names some 2,000 blocks at most. */
export const MAX_EDGES = 4_000;
/** Stretches between edges, times kinds of peers; some 0.3 s. */
const MAX_TRIALS = 500_000;

/** What differs alike between peers and addresses that are no peer's. */
export interface OutsideGroup<Delta> {
  /** On which side the addresses are. */
  readonly side: 'src' | 'dst';
  readonly ranges: Ranges;
  /** The same in words: a CIDR each, or `outside` for all, with what is left out. */
  readonly names: readonly string[];
  readonly peers: readonly string[];
  readonly delta: Delta;
}

/** What differs, with the same text where it is the same; undefined for nothing. */
type Compare<Delta> = (old: Allowed, now: Allowed) => (Delta & { readonly text: string }) | undefined;

/**
 * What differs between peers and addresses outside of all networks. Only peers whose policies, labels, network, phase or
 * bound differ are looked at, and only addresses that policies of those tell apart: one of each stretch stands for it.
 * Undefined where that is more than can be tried.
 *
 * Example: an ALLOW from 203.0.113.0/24 on TCP 8443 beside one from 0.0.0.0/0 except 203.0.113.64/26 tells apart
 * 203.0.113.0-63, .64-127, .128-255, the rest of IPv4, and everything else; what opens alike is joined again.
 */
export function outsideGroups<Delta>(
  before: Reachability,
  after: Reachability,
  compare: Compare<Delta>,
): readonly OutsideGroup<Delta>[] | undefined {
  const units = touchedUnits(before, after);
  if (units.length === 0) return [];
  const placesOf = (when: 'before' | 'after') => units.flatMap(({ members: [member] }) => member?.[when] ?? []);
  const blocks = [...blocksAt(before, placesOf('before')), ...blocksAt(after, placesOf('after'))];
  const inside = networksOf(before, after);
  const stretches = stretchesOf(blocks, inside);
  if (!stretches || stretches.length * units.length > MAX_TRIALS) return undefined;
  const externals = stretches.map(externalOf);
  const [old, now] = [withExternals(before, externals), withExternals(after, externals)];
  const groups = new Map<string, OutsideGroup<Delta> & { peers: string[] }>();
  for (const { members, names: peers } of units) {
    const [member] = members;
    for (const side of ['src', 'dst'] as const) {
      const found = new Map<string, { readonly delta: Delta; readonly ranges: IpRange[] }>();
      for (const [index, { name }] of externals.entries()) {
        const delta = compare(allowed(old, member?.before, name, side), allowed(now, member?.after, name, side));
        if (delta === undefined) continue;
        const same = found.get(delta.text) ?? { delta, ranges: [] };
        found.set(delta.text, same);
        same.ranges.push(...(stretches[index] ?? []));
      }
      for (const [text, { delta, ranges: some }] of found) {
        const ranges = union(some);
        const key = `${side} ${text} ${textOfRanges(ranges)}`;
        const known = groups.get(key);
        if (known) known.peers.push(...peers);
        else groups.set(key, { side, ranges, names: rangeNames(ranges, inside, blocks), peers: [...peers], delta });
      }
    }
  }
  return [...groups.values()];
}

function allowed(reach: Reachability, peer: number | undefined, external: string, side: 'src' | 'dst'): Allowed {
  const place = reach.placeOf(external);
  if (peer === undefined || place === undefined) return [];
  return reach.parts.ports.describe(side === 'src' ? reach.pair(place, peer) : reach.pair(peer, place));
}

/** The same text for the same addresses. */
export function textOfRanges(ranges: Ranges): string {
  return ranges.map(({ family, from, to }) => `${family}:${from.toString(16)}-${to.toString(16)}`).join();
}

/** The addresses that networks give to peers, before or after. */
export function networksOf(...reaches: readonly Reachability[]): Ranges {
  return union(reaches.flatMap(({ model }) => model.networks.flatMap(({ cidr }) => parseCidr(cidr) ?? [])));
}

/**
 * The addresses outside of networks, divided wherever some block begins or ends; those that no block names are one
 * stretch, and come last. Undefined where there are too many.
 */
export function stretchesOf(
  blocks: readonly BlockCode[],
  inside: Ranges,
  within: Ranges = EVERY_ADDRESS,
): Ranges[] | undefined {
  const edges = new Map<string, IpRange>();
  for (const { cidr, except } of blocks) {
    for (const { family, from, to } of [cidr, ...except]) {
      for (const at of [from, to + 1n]) edges.set(`${family} ${at}`, { family, from: at, to: at });
    }
  }
  if (edges.size > MAX_EDGES) return undefined;
  const sorted = [...edges.values()].sort((a, b) => a.family - b.family || (a.from < b.from ? -1 : 1));
  const meant = without(within, inside);
  const named = intersection(union(blocks.map(({ cidr }) => cidr)), meant);
  let next = 0;
  const stretches = named.flatMap(({ family, from, to }): Ranges[] => {
    const starts = [from];
    for (; next < sorted.length; next++) {
      const edge = sorted[next];
      if (!edge || edge.family > family || (edge.family === family && edge.from > to)) break;
      if (edge.family === family && edge.from > from) starts.push(edge.from);
    }
    return starts.map((start, index) => [{ family, from: start, to: (starts[index + 1] ?? to + 1n) - 1n }]);
  });
  const rest = without(meant, named);
  return rest.length === 0 ? stretches : [...stretches, rest];
}

/** One address of a stretch stands for all of it. Its name has a space, which no name of a peer has. */
export function externalOf(stretch: Ranges): ExternalInput {
  const [first] = stretch;
  if (!first) return { name: 'no address', range: '' };
  const address = addressText(first.family, first.from);
  return { name: `${address} (no peer)`, range: address };
}
