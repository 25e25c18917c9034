import { memoize } from '../base/memoize.ts';
import type { Endpoint } from './endpoints.ts';
import { type PlaceGroups, pairsBetween } from './pairs-between.ts';
import { ALL_PORTS, type AllowedPorts, NO_PORTS, type PortSetId } from './port-sets.ts';
import type { Reachability } from './reachability.ts';
import type { Row } from './rows.ts';
import type { Unit } from './units.ts';

/** The whole matrix of a {@link Reachability}, walked by units, so that what endpoints share is computed once. */

/** An ordered pair that is not fully denied. */
export interface PairRow {
  readonly src: string;
  readonly dst: string;
  readonly allowed: AllowedPorts;
}

/** Every `src` may open `allowed` to every `dst` other than itself. */
export interface GroupRow {
  readonly src: readonly string[];
  readonly dst: readonly string[];
  readonly allowed: AllowedPorts;
}

/** Every ordered pair of different endpoints that is not fully denied, lazily; from some sources alone where they are named. */
export function* pairRows(reach: Reachability, sources?: ReadonlySet<string>): Generator<PairRow> {
  for (const [s, d, set] of pairs(reach, sources)) {
    yield { src: reach.nameOf(s), dst: reach.nameOf(d), allowed: reach.parts.ports.describe(set) };
  }
}

/** The part of a matrix that is asked for: pairs of some sources and targets, and some of their ports. */
export interface PairFilter {
  readonly src?: ReadonlySet<string> | undefined;
  readonly dst?: ReadonlySet<string> | undefined;
  readonly ports?: PortSetId;
}

/** The same pairs as {@link pairRows}, by groups of endpoints that share them. */
export function* groupRows(
  reach: Reachability,
  { src, dst, ports: scope = ALL_PORTS }: PairFilter = {},
): Generator<GroupRow> {
  const { ports } = reach.parts;
  const names = (places: readonly number[]) => places.map((place) => reach.nameOf(place));
  for (const group of pairsBetween(reach, unitsAmong(reach, src), unitsAmong(reach, dst))) {
    const set = ports.meet(group.ports, scope);
    if (set !== NO_PORTS) yield { src: names(group.src), dst: names(group.dst), allowed: ports.describe(set) };
  }
}

/** The members of each unit that have one of the names. */
function unitsAmong(reach: Reachability, names: ReadonlySet<string> | undefined): PlaceGroups {
  const all = reach.units().map(({ members }) => members);
  if (names === undefined) return all;
  return all
    .map((members) => members.filter((place) => names.has(reach.nameOf(place))))
    .filter((members) => members.length > 0);
}

/**
 * How many ordered pairs of different endpoints are not fully denied.
 *
 * Example: ten peers with role=web, two with role=db, and `ALLOW role=db ingress from role=web on TCP 5432`. Two units,
 * {ten webs} and {two dbs}, and four look-ups: nothing isolates the webs, so they reach each other, 10 x 9 pairs, and the
 * dbs reach them, 2 x 10; TCP 5432 leads from webs to dbs, 10 x 2; and from db to db nothing: 130 in all.
 */
export const countPairs = memoize((reach: Reachability): number => {
  const { endpoints } = reach.parts;
  const receivers = reach.units().flatMap((unit) => receiverOf(reach, unit) ?? []);
  let count = 0;
  for (const from of reach.units()) {
    const src = endpoints[from.members[0] ?? 0];
    if (src === undefined || src.dead !== undefined) continue;
    count += src.bound === undefined ? countUnbound(reach, from, src, receivers) : countBound(reach, from);
  }
  return count;
});

/** The pairs from members of a unit that policies alone decide about. */
function countUnbound({ parts }: Reachability, from: Unit, src: Endpoint, receivers: readonly Receiver[]): number {
  const { ports, table } = parts;
  const sent = src.external ? undefined : table.row('egress', src.classIndex);
  let count = 0;
  for (const { unit, endpoint, row, size } of receivers) {
    if (sent ? !endpoint.external && endpoint.network !== src.network : endpoint.external) continue;
    const out = sent === undefined ? ALL_PORTS : (sent[endpoint.classIndex] ?? NO_PORTS);
    if (out === NO_PORTS) continue;
    const into = row === undefined ? ALL_PORTS : (row[src.classIndex] ?? NO_PORTS);
    if (ports.intersects(out, into)) count += from.members.length * size - (unit === from ? size : 0);
  }
  return count;
}

/** A unit that takes part, with what may be sent to it; undefined where no policy of its own decides that. */
interface Receiver {
  readonly unit: Unit;
  readonly endpoint: Endpoint;
  readonly row: Row | undefined;
  readonly size: number;
}

function receiverOf({ parts }: Reachability, unit: Unit): Receiver | undefined {
  const endpoint = parts.endpoints[unit.members[0] ?? 0];
  if (endpoint === undefined || endpoint.dead !== undefined) return undefined;
  const row = endpoint.external ? undefined : parts.table.row('ingress', endpoint.classIndex);
  return { unit, endpoint, row, size: unit.members.length };
}

/** The pairs from members of a unit that is bound by a delegation. */
function countBound(reach: Reachability, { members }: Unit): number {
  let count = 0;
  for (const to of reach.units()) {
    for (const { src, dst, ports } of pairsBetween(reach, [members], [to.members])) {
      if (ports === NO_PORTS) continue;
      count += src.length * dst.length - (src === to.members ? dst.length : 0);
    }
  }
  return count;
}

/** All pairs with their port sets, fully denied ones and self-traffic left out. */
function* pairs(
  reach: Reachability,
  sources?: ReadonlySet<string>,
): Generator<readonly [src: number, dst: number, set: PortSetId]> {
  for (const from of reach.units()) {
    const targets = reach
      .unitsTowards(from)
      .map((to) => ({ members: to.members, set: reach.unitPair(from, to) }))
      .filter(({ set }) => set !== NO_PORTS || from.ancestors.length > 0);
    for (const src of from.members) {
      if (!sources || sources.has(reach.nameOf(src))) yield* pairsFrom(reach, src, from.ancestors, targets);
    }
  }
}

function* pairsFrom(
  reach: Reachability,
  src: number,
  ancestors: readonly number[],
  targets: readonly { readonly members: readonly number[]; readonly set: PortSetId }[],
): Generator<readonly [src: number, dst: number, set: PortSetId]> {
  for (const { members, set } of targets) {
    for (const dst of members) {
      if (src === dst) continue;
      const own = ancestors.includes(dst) ? reach.pair(src, dst) : set;
      if (own !== NO_PORTS) yield [src, dst, own];
    }
  }
}
