import { ALL_PORTS, type PortSetId } from './port-sets.ts';
import type { Reachability } from './reachability.ts';
import { ancestorsOf } from './units.ts';

/** Places by what policies can tell apart; none is empty. */
export type PlaceGroups = readonly (readonly number[])[];

/** Ordered pairs that share their ports: every `src` to every `dst` other than itself. There is at least one. */
export interface PairGroup {
  readonly src: readonly number[];
  readonly dst: readonly number[];
  readonly ports: PortSetId;
}

/** Groups the endpoints of these names; unknown ones are left out. */
export function placeGroups(reach: Reachability, names: Iterable<string>): PlaceGroups {
  const groups = new Map<string, number[]>();
  for (const name of names) {
    const place = reach.placeOf(name);
    if (place === undefined) continue;
    const unit = reach.parts.endpoints[place]?.unit ?? '';
    const known = groups.get(unit);
    if (known) known.push(place);
    else groups.set(unit, [place]);
  }
  return [...groups.values()];
}

/** All pairs between two sets, by kinds of endpoints: costs what policies tell apart, not how many peers there are. */
export function* pairsBetween(reach: Reachability, sources: PlaceGroups, targets: PlaceGroups): Generator<PairGroup> {
  for (const src of sources) {
    const ancestors = ancestorsOf(reach.parts.endpoints, src[0]);
    for (const all of targets) {
      const kin = ancestors.length === 0 ? [] : all.filter((place) => ancestors.includes(place));
      const dst = kin.length === 0 ? all : all.filter((place) => !kin.includes(place));
      const group = groupOf(reach, src, dst);
      if (group) yield group;
      for (const own of kin) {
        for (const one of src) {
          const pair = groupOf(reach, [one], [own]);
          if (pair) yield pair;
        }
      }
    }
  }
}

/** Any pair of different members stands for all. */
function groupOf(reach: Reachability, src: readonly number[], dst: readonly number[]): PairGroup | undefined {
  const to = dst.find((place) => place !== src[0]) ?? dst[0];
  const from = src.find((place) => place !== to);
  return from === undefined || to === undefined ? undefined : { src, dst, ports: reach.pair(from, to) };
}

/** How many ordered pairs of different endpoints a group has. */
export function countPairs({ src, dst }: PairGroup): number {
  const targets = new Set(dst);
  return src.length * dst.length - src.reduce((same, place) => same + (targets.has(place) ? 1 : 0), 0);
}

/** The first pairs of a group, as names. */
export function examplesOf(reach: Reachability, { src, dst }: PairGroup, limit: number): [src: string, dst: string][] {
  const found: [string, string][] = [];
  const nameOf = (place: number) => reach.parts.endpoints[place]?.name ?? '';
  for (const from of src) {
    for (const to of dst) {
      if (found.length >= limit) return found;
      if (from !== to) found.push([nameOf(from), nameOf(to)]);
    }
  }
  return found;
}

/** Which of the ports that are asked for are open, and which are closed. */
export function splitPorts(
  { parts: { ports } }: Reachability,
  asked: PortSetId,
  open: PortSetId,
): { readonly open: PortSetId; readonly closed: PortSetId } {
  return { open: asked === ALL_PORTS ? open : ports.meet(asked, open), closed: ports.minus(asked, open) };
}
