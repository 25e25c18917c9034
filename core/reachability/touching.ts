import { diffGroups } from './diff.ts';
import type { Direction } from './model.ts';
import { NO_PORTS } from './port-sets.ts';
import type { Reachability } from './reachability.ts';
import { ancestorsOf } from './units.ts';

/** The endpoints of which some pair differs: those whose neighbours or rules have to be looked at again. */
export function touching(before: Reachability, after: Reachability): Set<string> {
  const { places, ports, space } = before.parts;
  const isNextTo = after.parts.places === places && after.parts.ports === ports && after.parts.space.continues(space);
  return isNextTo ? touchingNext(before, after) : touchingAny(before, after);
}

function touchingAny(before: Reachability, after: Reachability): Set<string> {
  const names = new Set<string>();
  for (const { src, dst } of diffGroups(before, after)) {
    for (const from of src) if (dst.some((to) => to !== from)) names.add(from);
    for (const to of dst) if (src.some((from) => from !== to)) names.add(to);
  }
  return names;
}

/** Of two states that follow each other: looks at the endpoints and the classes that differ, and at their neighbours. */
function touchingNext(before: Reachability, after: Reachability): Set<string> {
  const touched = new Set<number>();
  const compare = (src: number, dst: number) => {
    if (src === dst || before.pair(src, dst) === after.pair(src, dst)) return;
    touched.add(src).add(dst);
  };
  const compareAll = (place: number) => {
    for (const other of new Set([...before.around(place), ...after.around(place)])) {
      compare(place, other);
      compare(other, place);
    }
  };
  const moved = movedPlaces(before, after);
  for (const place of moved) {
    compareAll(place);
    for (const heir of new Set([...before.heirsOf(place), ...after.heirsOf(place)])) compareAll(heir);
  }
  /** Places of one unit differ alike, save towards their ancestors. */
  const compareUnits = (sources: readonly number[], targets: readonly number[]) => {
    const targetUnits = byUnit(after, targets);
    for (const unit of byUnit(after, sources)) {
      const kin = new Set(ancestorsOf(after.parts.endpoints, unit[0]));
      for (const others of targetUnits) {
        const strangers = kin.size === 0 ? others : others.filter((other) => !kin.has(other));
        const dst = strangers.find((other) => other !== unit[0]) ?? strangers[0];
        const src = unit.find((one) => one !== dst);
        if (src !== undefined && dst !== undefined && before.pair(src, dst) !== after.pair(src, dst)) {
          for (const place of [...unit, ...strangers]) touched.add(place);
        }
        for (const other of others) if (kin.has(other)) for (const one of unit) compare(one, other);
      }
    }
  };
  for (const [from, to] of changedClassPairs(before, after)) {
    // Who moved was looked at; the others are in the same class before and after.
    const [sources = [], targets = []] = [from, to].map((index) =>
      after.members()[index]?.filter((at) => !moved.has(at)),
    );
    compareUnits(sources, targets);
    if (after.parts.bounds.ofPeer.size > 0) {
      compareUnits([...new Set(sources.flatMap((src) => after.heirsOf(src)))], targets);
    }
  }
  return new Set([...touched].map((place) => after.nameOf(place) || before.nameOf(place)));
}

/** The places that take part, by what policies can tell apart. */
function byUnit({ parts }: Reachability, places: readonly number[]): number[][] {
  const units = new Map<string, number[]>();
  for (const place of places) {
    const endpoint = parts.endpoints[place];
    if (endpoint === undefined || endpoint.dead !== undefined) continue;
    const known = units.get(endpoint.unit);
    if (known) known.push(place);
    else units.set(endpoint.unit, [place]);
  }
  return [...units.values()];
}

function movedPlaces(before: Reachability, after: Reachability): Set<number> {
  const [old, now] = [before.parts.endpoints, after.parts.endpoints];
  const moved = new Set<number>();
  for (let place = 0; place < Math.max(old.length, now.length); place++)
    if (old[place] !== now[place]) moved.add(place);
  return moved;
}

/** Classes of both states of which the first may open something else at the second. */
function* changedClassPairs(before: Reachability, after: Reachability): Generator<readonly [number, number]> {
  const [old, now] = [before.parts.table, after.parts.table];
  if (old === now || before.parts.policies === after.parts.policies) return;
  const { classes } = before.parts.space;
  for (let index = 0; index < classes.length; index++) {
    for (const direction of ['egress', 'ingress'] as const satisfies Direction[]) {
      const [was, is] = [old.row(direction, index), now.row(direction, index)];
      if (was === is) continue;
      for (let other = 0; other < classes.length; other++) {
        if ((was[other] ?? NO_PORTS) === (is[other] ?? NO_PORTS)) continue;
        yield direction === 'egress' ? [index, other] : [other, index];
      }
    }
  }
}
