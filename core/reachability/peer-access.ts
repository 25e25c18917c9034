import { getOrInsertComputed } from '../base/get-or-insert.ts';
import { type Ranges, union } from '../model/ranges.ts';
import { explain } from './explain.ts';
import { blocksAt, withExternals } from './externals.ts';
import { externalOf, networksOf, stretchesOf } from './outside.ts';
import type { AllowedPorts } from './port-sets.ts';
import { rangeNames } from './range-names.ts';
import type { Neighbourhood, Reachability } from './reachability.ts';

/** Others that a peer reaches, or that reach it, on the same ports by the same policies. */
export interface AccessRow {
  /** Peers. */
  readonly others: readonly string[];
  /** Addresses outside of the networks in the fewest words: `outside` for all. */
  readonly outside: readonly string[];
  readonly allowed: AllowedPorts;
  /** Policies that allow it, on either side; empty where no policy isolates. */
  readonly policies: readonly string[];
}

export interface PeerAccess {
  readonly reaches: readonly AccessRow[];
  readonly reachedBy: readonly AccessRow[];
}

/** Stretches of addresses outside that are looked at. */
const MAX_STRETCHES = 200;

/** Returns what a peer reaches and who reaches it, addresses outside included, the largest rows first. */
export function peerAccess(compiled: Reachability, name: string): PeerAccess {
  const place = compiled.placeOf(name);
  const blocks = place === undefined ? [] : [...blocksAt(compiled, [place])];
  const inside = networksOf(compiled);
  // The stretch that no block names is the last, and stays.
  const stretches = (stretchesOf(blocks, inside) ?? []).slice(-MAX_STRETCHES);
  const ranges = new Map(stretches.map((stretch) => [externalOf(stretch).name, stretch]));
  const reach = withExternals(compiled, stretches.map(externalOf));
  const { outbound, inbound } = reach.neighbourhood(name);
  const nameOutside = (names: readonly string[]) => {
    const all: Ranges = union(names.flatMap((one) => ranges.get(one) ?? []));
    return all.length === 0 ? [] : rangeNames(all, inside, blocks);
  };
  const split = (names: readonly string[]) => {
    const others = names.filter((one) => !ranges.has(one)).sort();
    return { others, outside: nameOutside(names) };
  };
  return {
    reaches: rowsOf(reach, outbound, split, (other) => ({ src: name, dst: other })),
    reachedBy: rowsOf(reach, inbound, split, (other) => ({ src: other, dst: name })),
  };
}

/** Computes the rows with one endpoint for all that every policy treats alike. */
function rowsOf(
  reach: Reachability,
  neighbours: Neighbourhood['outbound'],
  split: (names: readonly string[]) => Pick<AccessRow, 'others' | 'outside'>,
  pairWith: (other: string) => { readonly src: string; readonly dst: string },
): AccessRow[] {
  const policiesByClass = new Map<number, readonly string[]>();
  const policiesOf = (other: string) => {
    const place = reach.placeOf(other);
    const index = place === undefined ? -1 : (reach.parts.endpoints[place]?.classIndex ?? -1);
    return getOrInsertComputed(policiesByClass, index, () => {
      const steps = explain(reach, pairWith(other)).steps.filter(({ result }) => result !== 'fail');
      return [...new Set(steps.flatMap(({ policy }) => policy ?? []))].sort();
    });
  };
  const rows = Map.groupBy(
    neighbours.map(({ name, allowed }) => ({ name, allowed, policies: policiesOf(name) })),
    ({ allowed, policies }) => JSON.stringify([allowed, policies]),
  );
  return [...rows.values()]
    .map((alike) => {
      const [{ allowed, policies }] = alike as [(typeof alike)[number]];
      return { ...split(alike.map(({ name }) => name)), allowed, policies };
    })
    .sort((a, b) => b.others.length - a.others.length);
}
