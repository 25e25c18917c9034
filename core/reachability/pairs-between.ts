import { getOrInsertComputed } from '../base/get-or-insert.ts';
import { ALL_PORTS, type PortSetId } from './port-sets.ts';
import type { Reachability } from './reachability.ts';
import { ancestorsOf } from './units.ts';

/** Places by unit; none is empty. */
export type PlaceGroups = readonly (readonly number[])[];

/** Ordered pairs that share their ports: every `src` to every `dst` other than itself. There is at least one. */
export interface PairGroup {
  readonly src: readonly number[];
  readonly dst: readonly number[];
  readonly ports: PortSetId;
}

/** Groups the endpoints of these names; unknown ones are left out. */
export function placeGroups(reach: Reachability, names: Iterable<string>): PlaceGroups {
  return groupPlaces(
    reach,
    [...names].flatMap((name) => reach.placeOf(name) ?? []),
  );
}

/** Groups endpoints by what policies can tell apart. */
export function groupPlaces({ parts }: Reachability, places: Iterable<number>): PlaceGroups {
  const groups = new Map<string, number[]>();
  for (const place of places) {
    const unit = parts.endpoints[place]?.unit;
    if (unit !== undefined) getOrInsertComputed(groups, unit, () => []).push(place);
  }
  return [...groups.values()];
}

/** All pairs between two sets, by kinds of endpoints: costs what policies tell apart, not how many peers there are. */
export function* pairsBetween(reach: Reachability, sources: PlaceGroups, targets: PlaceGroups): Generator<PairGroup> {
  for (const { src, dst, example } of alikePairs(reach, sources, targets)) {
    yield { src, dst, ports: reach.pair(...example) };
  }
}

/** Ordered pairs that share their ports, and one of them that stands for all. */
export interface AlikePairs extends Omit<PairGroup, 'ports'> {
  readonly example: readonly [src: number, dst: number];
}

/**
 * The same without their ports. An ancestor of a source stands apart from its unit: a peer may open everything at itself,
 * so what it passes on towards itself is not what it passes on towards others.
 *
 * Example: boss and db-1 have the same labels; bot-1 and bot-2 were delegated by boss. Two units: {boss, db-1} and
 * {bot-1, bot-2}. From the second to the first there are three groups: {bot-1, bot-2} to {db-1}, for which bot-1 to db-1
 * stands, then bot-1 to boss and bot-2 to boss. From the second to itself there is one, for which bot-1 to bot-2 stands.
 */
export function* alikePairs(reach: Reachability, sources: PlaceGroups, targets: PlaceGroups): Generator<AlikePairs> {
  for (const src of sources) {
    const ancestors = ancestorsOf(reach.parts.endpoints, src[0]);
    for (const dst of targets) {
      if (ancestors.length === 0) {
        const example = examplePair(src, dst);
        if (example) yield { src, dst, example };
      } else yield* apartFromAncestors(src, dst, ancestors);
    }
  }
}

function* apartFromAncestors(
  src: readonly number[],
  all: readonly number[],
  ancestors: readonly number[],
): Generator<AlikePairs> {
  const dst = all.filter((place) => !ancestors.includes(place));
  const example = examplePair(src, dst);
  if (example) yield { src, dst, example };
  for (const ancestor of all) {
    if (!ancestors.includes(ancestor)) continue;
    for (const one of src) {
      if (one !== ancestor) yield { src: [one], dst: [ancestor], example: [one, ancestor] };
    }
  }
}

/** Returns a pair of different members: any pair stands for all between two units. */
export function examplePair<T>(src: readonly T[], dst: readonly T[]): readonly [src: T, dst: T] | undefined {
  const to = dst.find((one) => one !== src[0]) ?? dst[0];
  const from = src.find((one) => one !== to);
  return from === undefined || to === undefined ? undefined : [from, to];
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
