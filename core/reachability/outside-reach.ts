import { getOrInsertComputed } from '../base/get-or-insert.ts';
import { type Ranges, union } from '../model/ranges.ts';
import { blocksAt, withExternals } from './externals.ts';
import { externalOf, networksOf, stretchesOf } from './outside.ts';
import type { AllowedPorts } from './port-sets.ts';
import { rangeNames } from './range-names.ts';
import type { Reachability } from './reachability.ts';

/** Addresses outside of the networks that share their ports: CIDRs, or `outside` for all, with what is left out. */
export interface OutsideReach {
  readonly addresses: readonly string[];
  readonly allowed: AllowedPorts;
}

/**
 * Returns what addresses outside may open at a peer (`src`), or the peer at them (`dst`); undefined where policies name too
 * many addresses.
 */
export function outsideReach(reach: Reachability, name: string, side: 'src' | 'dst'): OutsideReach[] | undefined {
  const place = reach.placeOf(name);
  if (place === undefined) return [];
  const blocks = [...blocksAt(reach, [place])];
  const inside = networksOf(reach);
  const stretches = stretchesOf(blocks, inside);
  if (!stretches) return undefined;
  const externals = stretches.map(externalOf);
  const both = withExternals(reach, externals);
  const byPorts = new Map<string, { readonly allowed: AllowedPorts; readonly ranges: Ranges[] }>();
  for (const [index, external] of externals.entries()) {
    const other = both.placeOf(external.name);
    if (other === undefined) continue;
    const allowed = both.parts.ports.describe(side === 'src' ? both.pair(other, place) : both.pair(place, other));
    if (allowed !== 'ALL' && allowed.length === 0) continue;
    const own = getOrInsertComputed(byPorts, JSON.stringify(allowed), () => ({ allowed, ranges: [] }));
    own.ranges.push(stretches[index] ?? []);
  }
  return [...byPorts].sort().map(([, { allowed, ranges }]) => {
    return { addresses: rangeNames(union(ranges.flat()), inside, blocks), allowed };
  });
}
