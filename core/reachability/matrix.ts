import { ALL_PORTS, type Allowed, NO_PORTS, type PortSetId } from './port-sets.ts';
import type { Reachability } from './reachability.ts';
import type { Unit } from './units.ts';

/** The whole matrix of a {@link Reachability}, walked by units, so that what endpoints share is computed once. */

/** One ordered pair that is not fully denied. */
export interface PairRow {
  readonly src: string;
  readonly dst: string;
  readonly allowed: Allowed;
}

/** Every `src` may open `allowed` to every `dst` other than itself. */
export interface GroupRow {
  readonly src: readonly string[];
  readonly dst: readonly string[];
  readonly allowed: Allowed;
}

/** Every ordered pair of different endpoints that is not fully denied, lazily; from some sources alone where they are named. */
export function* pairRows(reach: Reachability, sources?: ReadonlySet<string>): Generator<PairRow> {
  for (const [s, d, set] of pairs(reach, sources)) {
    yield { src: reach.nameOf(s), dst: reach.nameOf(d), allowed: reach.parts.ports.describe(set) };
  }
}

/** What of a matrix is asked for: the pairs of some sources and targets, and of these some ports. */
export interface Within {
  readonly src?: ReadonlySet<string> | undefined;
  readonly dst?: ReadonlySet<string> | undefined;
  readonly ports?: PortSetId;
}

/** The same pairs as {@link pairRows}, by groups of endpoints that share them. */
export function* groupRows(
  reach: Reachability,
  { src, dst, ports: scope = ALL_PORTS }: Within = {},
): Generator<GroupRow> {
  const { ports } = reach.parts;
  const names = (places: readonly number[]) => places.map((place) => reach.nameOf(place));
  const among = (places: readonly number[], wanted: ReadonlySet<string> | undefined) =>
    wanted === undefined ? places : places.filter((place) => wanted.has(reach.nameOf(place)));
  for (const from of reach.units()) {
    const sources = among(from.members, src);
    if (sources.length === 0) continue;
    for (const to of reach.unitsTowards(from)) {
      if (from === to && from.members.length === 1) continue;
      const targets = among(to.members, dst);
      if (targets.length === 0) continue;
      const kin = kinOf(from, to);
      const rest = kin.length === 0 ? targets : targets.filter((place) => !kin.includes(place));
      const set = ports.meet(reach.unitPair(from, to), scope);
      const isSelf = rest.length === 1 && sources.length === 1 && rest[0] === sources[0];
      if (set !== NO_PORTS && rest.length > 0 && !isSelf) {
        yield { src: names(sources), dst: names(rest), allowed: ports.describe(set) };
      }
      for (const [s, d, own] of kinPairs(reach, { ...from, members: sources }, among(kin, dst))) {
        const left = ports.meet(own, scope);
        if (left !== NO_PORTS) yield { src: names([s]), dst: names([d]), allowed: ports.describe(left) };
      }
    }
  }
}

/** How many ordered pairs of different endpoints are not fully denied. */
export function countPairs(reach: Reachability): number {
  const { ports, endpoints, table } = reach.parts;
  const receivers = reach.units().flatMap((unit) => receiverOf(reach, unit) ?? []);
  let count = 0;
  for (const from of reach.units()) {
    const src = endpoints[from.members[0] ?? 0];
    if (src === undefined || src.dead !== undefined) continue;
    if (src.bound !== undefined) {
      count += countBound(reach, from);
      continue;
    }
    const sent = src.external ? undefined : table.row('egress', src.classIndex);
    for (const { unit, endpoint, row, size } of receivers) {
      if (sent ? !endpoint.external && endpoint.network !== src.network : endpoint.external) continue;
      const out = sent === undefined ? ALL_PORTS : (sent[endpoint.classIndex] ?? NO_PORTS);
      if (out === NO_PORTS) continue;
      const into = row === undefined ? ALL_PORTS : (row[src.classIndex] ?? NO_PORTS);
      if (ports.intersects(out, into)) count += from.members.length * size - (unit === from ? size : 0);
    }
  }
  return count;
}

function receiverOf({ parts }: Reachability, unit: Unit) {
  const endpoint = parts.endpoints[unit.members[0] ?? 0];
  if (endpoint === undefined || endpoint.dead !== undefined) return undefined;
  const row = endpoint.external ? undefined : parts.table.row('ingress', endpoint.classIndex);
  return { unit, endpoint, row, size: unit.members.length };
}

/** The pairs from members of a unit that is bound by a delegation. */
function countBound(reach: Reachability, from: Unit): number {
  let count = 0;
  for (const to of reach.unitsTowards(from)) {
    const kin = kinOf(from, to);
    if (reach.unitPair(from, to) !== NO_PORTS) {
      const same = from === to ? from.members.length : 0;
      const ofKin = kin.length * from.members.length - from.members.filter((s) => kin.includes(s)).length;
      count += from.members.length * to.members.length - same - ofKin;
    }
    count += [...kinPairs(reach, from, kin)].length;
  }
  return count;
}

/** All pairs with their port sets, fully denied ones and self-traffic left out. */
function* pairs(
  reach: Reachability,
  sources?: ReadonlySet<string>,
): Generator<readonly [src: number, dst: number, set: PortSetId]> {
  for (const from of reach.units()) {
    const sets = reach.unitsTowards(from).map((to) => ({ to, set: reach.unitPair(from, to) }));
    for (const src of from.members) {
      if (sources && !sources.has(reach.nameOf(src))) continue;
      for (const { to, set } of sets) {
        if (set === NO_PORTS && from.ancestors.length === 0) continue;
        for (const dst of to.members) {
          if (src === dst) continue;
          const own = from.ancestors.includes(dst) ? reach.pair(src, dst) : set;
          if (own !== NO_PORTS) yield [src, dst, own];
        }
      }
    }
  }
}

/** The members of `to` that are ancestors of `from`: towards these, the members of `from` have rows of their own. */
function kinOf(from: Unit, to: Unit): readonly number[] {
  return from.ancestors.length === 0 ? [] : to.members.filter((place) => from.ancestors.includes(place));
}

function* kinPairs(
  reach: Reachability,
  from: Unit,
  kin: readonly number[],
): Generator<readonly [src: number, dst: number, set: PortSetId]> {
  for (const dst of kin) {
    for (const src of from.members) {
      const set = src === dst ? NO_PORTS : reach.pair(src, dst);
      if (set !== NO_PORTS) yield [src, dst, set];
    }
  }
}
