import { ALL_PORTS, type PortSetId } from './port-sets.ts';
import type { Reachability } from './reachability.ts';
import { ancestorsOf } from './units.ts';

/** Ordered pairs that share their ports: every `src` to every `dst` other than itself. Never empty. */
export interface PairGroup {
  readonly src: readonly number[];
  readonly dst: readonly number[];
  /** Ordered pairs of different endpoints. */
  readonly pairs: number;
  readonly ports: PortSetId;
}

/** All pairs between two sets of places, by kinds of endpoints: costs what policies tell apart, not how many peers there are. */
export function* pairsBetween(
  reach: Reachability,
  sources: readonly number[],
  targets: readonly number[],
): Generator<PairGroup> {
  const { endpoints } = reach.parts;
  const byUnit = (places: readonly number[]) => Map.groupBy(places, (place) => endpoints[place]?.unit ?? '').values();
  const targetUnits = [...byUnit(targets)];
  for (const src of byUnit(sources)) {
    const ancestors = ancestorsOf(endpoints, src[0]);
    for (const all of targetUnits) {
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
  if (from === undefined || to === undefined) return undefined;
  const members = dst.length < 2 && src.length < 2 ? undefined : new Set(dst);
  const same = members === undefined ? 0 : src.reduce((count, place) => count + (members.has(place) ? 1 : 0), 0);
  return { src, dst, pairs: src.length * dst.length - same, ports: reach.pair(from, to) };
}

/** Ports of a set that a question asks for and that are closed, and that are open. */
export function splitPorts(
  { parts: { ports } }: Reachability,
  asked: PortSetId,
  open: PortSetId,
): { readonly open: PortSetId; readonly closed: PortSetId } {
  return { open: asked === ALL_PORTS ? open : ports.meet(asked, open), closed: ports.minus(asked, open) };
}
