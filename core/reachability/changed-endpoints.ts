import { type AlikePairs, alikePairs, groupPlaces } from './pairs-between.ts';
import { diffGroups } from './reach-diff.ts';
import type { Reachability } from './reachability.ts';
import type { Row } from './rows.ts';

/** The endpoints of which some pair differs: those whose neighbours or rules have to be looked at again. */
export function changedEndpoints(before: Reachability, after: Reachability): Set<string> {
  const { places, ports, space } = before.parts;
  const isNextTo = after.parts.places === places && after.parts.ports === ports && after.parts.space.continues(space);
  return isNextTo ? changedOfNext(before, after) : changedOfAny(before, after);
}

function changedOfAny(before: Reachability, after: Reachability): Set<string> {
  const names = new Set<string>();
  for (const { src, dst } of diffGroups(before, after)) {
    for (const from of src) if (dst.some((to) => to !== from)) names.add(from);
    for (const to of dst) if (src.some((from) => from !== to)) names.add(to);
  }
  return names;
}

/**
 * Returns the touched endpoints of two consecutive states: compares the endpoints and classes that differ, and their neighbors.
 *
 * Example: web-1 and web-2 have role=web, db-1 has role=db and joins; `ALLOW role=db ingress from role=web` isolates it. db-1
 * moved: it is compared with its neighbors, the webs, and touches both. Then the policy names TCP 5432, and no endpoint moves.
 * One row differs, the ingress of role=db, in one cell, role=web. So one pair of classes is compared, for which web-1 to db-1
 * stands; it differs, so web-1, web-2 and db-1 are touched. A web that gets a label which no policy names is in the same class
 * as before and touches nobody.
 */
function changedOfNext(before: Reachability, after: Reachability): Set<string> {
  const touched = new Set<number>();
  const compare = (src: number, dst: number) => {
    if (src === dst || before.pair(src, dst) === after.pair(src, dst)) return;
    touched.add(src).add(dst);
  };
  const moved = movedPlaces(before, after);
  for (const place of withHeirs(moved, before, after)) {
    for (const other of new Set([...before.around(place), ...after.around(place)])) {
      compare(place, other);
      compare(other, place);
    }
  }
  for (const { src, dst, example } of pairsOfChangedClasses(before, after, moved)) {
    if (before.pair(...example) !== after.pair(...example)) for (const place of [...src, ...dst]) touched.add(place);
  }
  return new Set([...touched].map((place) => after.nameOf(place) || before.nameOf(place)));
}

/** These places, and those that are bound by what one of them may open. */
function withHeirs(places: ReadonlySet<number>, before: Reachability, after: Reachability): Set<number> {
  return new Set([...places].flatMap((place) => [place, ...before.heirsOf(place), ...after.heirsOf(place)]));
}

/** Pairs that policies may have changed, of endpoints that did not move: these are in the same class before and after. */
function* pairsOfChangedClasses(
  before: Reachability,
  after: Reachability,
  moved: ReadonlySet<number>,
): Generator<AlikePairs> {
  const members = (index: number) => after.members()[index]?.filter((place) => !moved.has(place)) ?? [];
  const hasBounds = after.parts.bounds.ofPeer.size > 0;
  for (const [from, to] of changedClassPairs(before, after)) {
    const sources = members(from);
    const targets = groupPlaces(after, members(to));
    yield* alikePairs(after, groupPlaces(after, sources), targets);
    if (!hasBounds) continue;
    const heirs = new Set(sources.flatMap((src) => after.heirsOf(src)));
    yield* alikePairs(after, groupPlaces(after, heirs), targets);
  }
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
  for (const index of before.parts.space.classes.keys()) {
    for (const other of changedCells(old.row('egress', index), now.row('egress', index))) yield [index, other];
    for (const other of changedCells(old.row('ingress', index), now.row('ingress', index))) yield [other, index];
  }
}

/** A later state may have more classes behind those of the first, whose members have moved. */
function changedCells(was: Row, is: Row): number[] {
  const changed: number[] = [];
  if (was === is) return changed;
  for (let other = 0; other < was.length; other++) if (was[other] !== is[other]) changed.push(other);
  return changed;
}
