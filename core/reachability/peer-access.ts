import { getOrInsertComputed } from '../base/get-or-insert.ts';
import { explain } from './explain.ts';
import { withExternals } from './externals.ts';
import { outsideRanges } from './outside.ts';
import type { Allowed } from './port-sets.ts';
import type { Neighbourhood, Reachability } from './reachability.ts';

/** Others that a peer reaches, or that reach it, on the same ports by the same policies. */
export interface AccessRow {
  readonly others: readonly string[];
  readonly allowed: Allowed;
  /** Those that let it through, on either side; none where no policy isolates. */
  readonly policies: readonly string[];
}

export interface PeerAccess {
  readonly reaches: readonly AccessRow[];
  readonly reachedBy: readonly AccessRow[];
}

/** Returns what a peer reaches and who reaches it, addresses outside included, the largest rows first. */
export function peerAccess(compiled: Reachability, name: string): PeerAccess {
  const externals = outsideRanges(compiled);
  const reach = externals.length === 0 ? compiled : withExternals(compiled, externals);
  const { outbound, inbound } = reach.neighbourhood(name);
  return {
    reaches: rowsOf(reach, outbound, (other) => ({ src: name, dst: other })),
    reachedBy: rowsOf(reach, inbound, (other) => ({ src: other, dst: name })),
  };
}

/** Of endpoints that all policies treat alike one stands for all. */
function rowsOf(
  reach: Reachability,
  neighbours: Neighbourhood['outbound'],
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
      return { others: alike.map(({ name }) => name).sort(), allowed, policies };
    })
    .sort((a, b) => b.others.length - a.others.length);
}
