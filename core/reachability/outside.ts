import { MeshError } from '../base/errors.ts';
import { getOrInsertComputed } from '../base/get-or-insert.ts';
import { type IpRange, parseCidr } from '../model/cidr.ts';
import { addressText, cidrsOf, EVERY_ADDRESS, intersection, type Ranges, union, without } from '../model/ranges.ts';
import { blocksAt, withExternals } from './externals.ts';
import { type Member, touchedUnits } from './joint-units.ts';
import type { ExternalInput } from './model.ts';
import type { AllowedPorts } from './port-sets.ts';
import type { BlockCode } from './program.ts';
import { rangeNames } from './range-names.ts';
import type { Reachability } from './reachability.ts';

/** First and last addresses of the blocks in policies of touched peers. A stored policy names some 2,000 blocks at most. */
export const MAX_EDGES = 4_000;
/** Stretches between edges, times kinds of peers; some 0.3 s. */
const MAX_TRIALS = 500_000;

/** A difference that is the same for all pairs of some peers and some addresses that are no peer's. */
export interface OutsideGroup<Delta> {
  /** On which side the addresses are. */
  readonly side: 'src' | 'dst';
  readonly ranges: Ranges;
  /** The same in words: a CIDR each, or `outside` for all, with what is left out. */
  readonly names: readonly string[];
  readonly peers: readonly string[];
  readonly delta: Delta;
}

/** Returns the difference of two port sets, with equal `text` for equal differences; undefined for none. */
type Compare<Delta> = (old: AllowedPorts, now: AllowedPorts) => (Delta & { readonly text: string }) | undefined;

/**
 * Returns the differences between peers and addresses outside of all networks. Compares only peers whose policies, labels,
 * network, phase or bound differ, and only addresses that policies of those distinguish: one address stands for each stretch.
 * Undefined where there are too many to compare.
 *
 * Example: an ALLOW from 203.0.113.0/24 on TCP 8443 beside one from 0.0.0.0/0 except 203.0.113.64/26 distinguishes the
 * addresses below 203.0.113.0, 203.0.113.0-63, .64-127, .128-255, those above 203.0.113.255, and all of IPv6, which nothing
 * names. Adding the first opens 8443 to three of these stretches alike: they are joined again to one group, 203.0.113.0/24.
 */
export function outsideGroups<Delta>(
  before: Reachability,
  after: Reachability,
  compare: Compare<Delta>,
): readonly OutsideGroup<Delta>[] | undefined {
  const units = touchedUnits(before, after);
  if (units.length === 0) return [];
  const trial = trialOf(before, after, units);
  if (!trial) return undefined;
  const groups = new Map<string, OutsideGroup<Delta> & { peers: string[] }>();
  for (const { members, names: peers } of units) {
    for (const side of ['src', 'dst'] as const) {
      for (const { delta, ranges } of differences(trial, members[0], side, compare)) {
        const group = getOrInsertComputed(groups, `${side} ${delta.text} ${textOfRanges(ranges)}`, () => {
          return { side, ranges, names: rangeNames(ranges, trial.inside, trial.blocks), peers: [], delta };
        });
        for (const peer of peers) group.peers.push(peer);
      }
    }
  }
  return [...groups.values()];
}

/** Both states with an address of each stretch beside their peers. */
interface Trial {
  readonly old: Reachability;
  readonly now: Reachability;
  readonly inside: Ranges;
  readonly blocks: readonly BlockCode[];
  /** By the name of the external that stands for it. */
  readonly stretches: ReadonlyMap<string, Ranges>;
}

function trialOf(before: Reachability, after: Reachability, units: ReturnType<typeof touchedUnits>): Trial | undefined {
  const placesOf = (when: 'before' | 'after') => units.flatMap(({ members: [member] }) => member?.[when] ?? []);
  const blocks = [...blocksAt(before, placesOf('before')), ...blocksAt(after, placesOf('after'))];
  const inside = networksOf(before, after);
  const stretches = stretchesOf(blocks, inside);
  if (!stretches || stretches.length * units.length > MAX_TRIALS) return undefined;
  const externals = stretches.map(externalOf);
  return {
    old: withExternals(before, externals),
    now: withExternals(after, externals),
    inside,
    blocks,
    stretches: new Map(stretches.map((stretch, index) => [externals[index]?.name ?? '', stretch])),
  };
}

/** Returns the differences between one peer and addresses, each with all addresses that share it. */
function differences<Delta>(
  { old, now, stretches }: Trial,
  peer: Member | undefined,
  side: 'src' | 'dst',
  compare: Compare<Delta>,
): { readonly delta: Delta & { readonly text: string }; readonly ranges: Ranges }[] {
  const found = new Map<string, { readonly delta: Delta & { readonly text: string }; readonly ranges: IpRange[] }>();
  for (const [name, stretch] of stretches) {
    const delta = compare(allowed(old, peer?.before, name, side), allowed(now, peer?.after, name, side));
    if (delta) getOrInsertComputed(found, delta.text, () => ({ delta, ranges: [] })).ranges.push(...stretch);
  }
  return [...found.values()].map(({ delta, ranges }) => ({ delta, ranges: union(ranges) }));
}

function allowed(reach: Reachability, peer: number | undefined, external: string, side: 'src' | 'dst'): AllowedPorts {
  const place = reach.placeOf(external);
  if (peer === undefined || place === undefined) return [];
  return reach.parts.ports.describe(side === 'src' ? reach.pair(place, peer) : reach.pair(peer, place));
}

/** Stretches that {@link outsideRanges} gives. */
const MAX_STRETCHES = 200;
/** Stands for every address that no policy names. */
const ELSEWHERE = 'other addresses outside';

/**
 * The addresses outside of all networks which policies in force tell apart, as externals whose names say what they stand
 * for; none where no policy names an address outside.
 */
export function outsideRanges(reach: Reachability): readonly ExternalInput[] {
  const blocks = [...blocksAt(reach, reach.parts.endpoints.keys())];
  const outside = without(EVERY_ADDRESS, networksOf(reach));
  const named = namedStretches(blocks, outside);
  if (named.length === 0) return [];
  const rest = without(outside, union(named));
  const stretches = named.map((stretch) => namedExternal([stretch]));
  const all = rest.length === 0 ? stretches : [...stretches, { ...externalOf(rest), name: ELSEWHERE }];
  return all.slice(0, MAX_STRETCHES);
}

/**
 * The addresses outside of all networks among some, divided by what policies about some places tell apart.
 *
 * @throws MeshError `payload_too_large` for more than {@link MAX_EDGES}
 */
export function outsideWithin(reach: Reachability, places: Iterable<number>, ranges: Ranges): readonly ExternalInput[] {
  const stretches = stretchesOf([...blocksAt(reach, places)], networksOf(reach), ranges);
  if (stretches) return stretches.map(namedExternal);
  throw new MeshError(
    'payload_too_large',
    `Policies tell more than ${MAX_EDGES} edges of address ranges apart here (docs/limits.md): ask about one peer.`,
  );
}

/** As {@link externalOf}, named by what it stands for. */
export function namedExternal(stretch: Ranges): ExternalInput {
  const [range, ...more] = stretch;
  return { ...externalOf(stretch), name: range && more.length === 0 ? rangeText(range) : ELSEWHERE };
}

/** A CIDR where it is one, else `first - last`: no name of a peer has a slash or a space. */
function rangeText(range: IpRange): string {
  const [cidr = '', ...more] = cidrsOf([range]);
  const ends = `${addressText(range.family, range.from)} - ${addressText(range.family, range.to)}`;
  return more.length === 0 ? cidr : ends;
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
  if (edgesOf(blocks).length > MAX_EDGES) return undefined;
  const outside = without(within, inside);
  const named = namedStretches(blocks, outside);
  const rest = without(outside, union(named));
  const stretches = named.map((stretch): Ranges => [stretch]);
  return rest.length === 0 ? stretches : [...stretches, rest];
}

/** Returns the stretches of outside addresses that some block names. */
function namedStretches(blocks: readonly BlockCode[], outside: Ranges): IpRange[] {
  const edges = edgesOf(blocks);
  let next = 0;
  return intersection(union(blocks.map(({ cidr }) => cidr)), outside).flatMap(({ family, from, to }) => {
    const starts = [from];
    for (; next < edges.length; next++) {
      const edge = edges[next];
      if (!edge || edge.family > family || (edge.family === family && edge.from > to)) break;
      if (edge.family === family && edge.from > from) starts.push(edge.from);
    }
    return starts.map((start, index): IpRange => ({ family, from: start, to: (starts[index + 1] ?? to + 1n) - 1n }));
  });
}

/** Where blocks begin, and where what is behind them does; each once, in ascending order. */
function edgesOf(blocks: readonly BlockCode[]): IpRange[] {
  const edges = new Map<string, IpRange>();
  for (const { cidr, except } of blocks) {
    for (const { family, from, to } of [cidr, ...except]) {
      for (const at of [from, to + 1n]) edges.set(`${family} ${at}`, { family, from: at, to: at });
    }
  }
  return [...edges.values()].sort((a, b) => a.family - b.family || (a.from < b.from ? -1 : 1));
}

/**
 * Returns an external for one address of a stretch, which stands for all of it. Its name has a space, which no peer name has.
 */
export function externalOf(stretch: Ranges): ExternalInput {
  const [first] = stretch;
  if (!first) return { name: 'no address', range: '' };
  const address = addressText(first.family, first.from);
  return { name: `${address} (no peer)`, range: address };
}
