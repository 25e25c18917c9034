import { getOrInsertComputed } from '../base/get-or-insert.ts';
import { type Ranges, union } from '../model/ranges.ts';
import { explain } from './explain.ts';
import type { ConnectivityQuery, Explanation } from './explanation.ts';
import { blocksAt, withExternals } from './externals.ts';
import type { ExternalInput } from './model.ts';
import { externalOf, networksOf, outsideWithin, stretchesOf } from './outside.ts';
import { type AllowedPorts, NO_PORTS, type PortSetId } from './port-sets.ts';
import { rangeNames } from './range-names.ts';
import type { Reachability } from './reachability.ts';

/** A question of which one end is addresses outside of all networks. */
export interface OutsideQuery extends ConnectivityQuery {
  readonly side: 'src' | 'dst';
  /** Addresses asked about; those inside a network are left out. */
  readonly ranges: Ranges;
}

/**
 * As {@link explain}, for all of the addresses together: reachable where each of them may use all that is asked about,
 * unreachable where none may use any of it; `allowed` is what each of them may use. Policies may tell the addresses apart:
 * `steps` and `blocked_by` are of a part that may use least, which they name. Nothing is said to fix it.
 *
 * @throws MeshError `payload_too_large` where policies tell too many of them apart
 */
export function explainOutside(reach: Reachability, { side, ranges, ...query }: OutsideQuery): Explanation {
  const peer = side === 'src' ? query.dst : query.src;
  const place = reach.placeOf(peer);
  if (place === undefined) return explain(reach, { ...query, src: peer, dst: peer });
  const externals = outsideWithin(reach, [place], ranges);
  if (externals.length === 0) return explain(reach, query);
  return explainParts(withExternals(reach, externals), { ...query, side }, externals);
}

/** Some of the addresses, in words, and the ports that each of them may use. */
export interface OutsidePart {
  readonly ranges: Ranges;
  readonly addresses: readonly string[];
  readonly allowed: AllowedPorts;
}

/** Returns the parts of the addresses that may use something of what is asked; none where policies tell too many apart. */
export function openOutside(reach: Reachability, { side, ranges, ...query }: OutsideQuery): OutsidePart[] {
  const peer = side === 'src' ? query.dst : query.src;
  const place = reach.placeOf(peer);
  if (place === undefined) return [];
  const blocks = [...blocksAt(reach, [place])];
  const inside = networksOf(reach);
  const stretches = stretchesOf(blocks, inside, ranges) ?? [];
  const externals = stretches.map(externalOf);
  const all = withExternals(reach, externals);
  const { ports } = all.parts;
  const scope = ports.ofQuery(query.protocol, query.port);
  const byPorts = new Map<PortSetId, Ranges[]>();
  for (const [index, { name }] of externals.entries()) {
    const at = all.placeOf(name);
    if (at === undefined) continue;
    const open = ports.meet(side === 'src' ? all.pair(at, place) : all.pair(place, at), scope);
    if (open !== NO_PORTS) getOrInsertComputed(byPorts, open, () => []).push(stretches[index] ?? []);
  }
  return [...byPorts].map(([open, own]) => {
    const part = union(own.flat());
    return { ranges: part, addresses: rangeNames(part, inside, blocks), allowed: ports.describe(open) };
  });
}

/** As {@link explainOutside}, of addresses that are divided already: `externals` are the parts, each an endpoint of `all`. */
export function explainParts(
  all: Reachability,
  { side, ...query }: ConnectivityQuery & Pick<OutsideQuery, 'side'>,
  externals: readonly ExternalInput[],
): Explanation {
  const { ports } = all.parts;
  const peer = side === 'src' ? query.dst : query.src;
  const place = all.placeOf(peer);
  if (place === undefined) return explain(all, { ...query, src: peer, dst: peer });
  const scope = ports.ofQuery(query.protocol, query.port);
  const parts = externals.flatMap(({ name }) => {
    const at = all.placeOf(name);
    if (at === undefined) return [];
    return [{ name, open: ports.meet(side === 'src' ? all.pair(at, place) : all.pair(place, at), scope) }];
  });
  const each = parts.reduce((open, part) => ports.meet(open, part.open), scope);
  const least = parts.find(({ open }) => open === NO_PORTS) ?? parts.find(({ open }) => open !== scope) ?? parts[0];
  const { steps, blocked_by } = explain(all, { ...query, [side]: least?.name ?? '' });
  return {
    verdict: each === scope ? 'reachable' : parts.every(({ open }) => open === NO_PORTS) ? 'unreachable' : 'partial',
    steps,
    allowed: ports.describe(each),
    blocked_by,
    would_fix: [],
  };
}
