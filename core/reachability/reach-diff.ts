import { type JointUnit, jointUnits, type Member } from './joint-units.ts';
import { examplePair } from './pairs-between.ts';
import { type AllowedPorts, NO_PORTS, type PortSetId } from './port-sets.ts';
import type { Reachability } from './reachability.ts';
import { isUnchanged, unitRows } from './unit-rows.ts';

/** An ordered pair whose allowed ports differ. `old` of an added and `new` of a removed row are empty. */
export interface DiffRow {
  readonly type: 'added' | 'removed' | 'changed';
  readonly src: string;
  readonly dst: string;
  readonly old: AllowedPorts;
  readonly new: AllowedPorts;
}

/** Every `src` towards every `dst` other than itself changed alike. */
export interface DiffGroup extends Omit<DiffRow, 'src' | 'dst'> {
  /** The same array for the same endpoints in all groups, also for `dst`, except where an ancestor is listed separately. */
  readonly src: readonly string[];
  readonly dst: readonly string[];
  /** True where every `dst` is also a `src`; else the two have no endpoint in common. */
  readonly within: boolean;
}

/** The pairs that differ, one by one. */
export function diff(before: Reachability, after: Reachability): DiffRow[] {
  return firstRows(before, after, Number.POSITIVE_INFINITY).rows;
}

/** Some of them; the others are counted and never made. */
export function firstRows(
  before: Reachability,
  after: Reachability,
  limit: number,
): { readonly rows: DiffRow[]; readonly omitted: number } {
  const rows: DiffRow[] = [];
  let total = 0;
  for (const { src, dst, within, ...change } of diffGroups(before, after)) {
    total += src.length * dst.length - (within ? dst.length : 0);
    for (const from of src) {
      if (rows.length >= limit) break;
      for (const to of dst) if (to !== from && rows.length < limit) rows.push({ ...change, src: from, dst: to });
    }
  }
  return { rows, omitted: total - rows.length };
}

/**
 * The same, by groups of endpoints that changed alike. Only pairs of which one end could have changed are compared: those
 * whose policies, labels, network, address, phase or bound differ.
 *
 * Example: web-1 and web-2 have role=web, db-1 and db-2 role=db, in a network that allows by default, and the change adds
 * `ALLOW role=db ingress from role=web on TCP 5432`. Nothing tells the webs apart, before or after, nor the dbs: two units.
 * No policy of the webs changed, so nobody is compared as to what the webs receive; the dbs receive something else. From
 * the webs to the dbs, web-1 to db-1 stands for all four pairs: `ALL` becomes TCP 5432, one group. Among the dbs, db-1 to
 * db-2 stands for both: `ALL` becomes nothing, another.
 */
export function* diffGroups(before: Reachability, after: Reachability): Generator<DiffGroup> {
  const units = jointUnits(before, after).map((unit) => ({ ...unit, rows: unitRows(before, after, unit) }));
  const receivers = units.filter(({ changed, receives }) => changed || receives);
  const { ports } = before.parts;
  const groupsBetween = unitComparer(before, after);
  for (const from of units) {
    for (const to of from.changed || from.sends ? units : receivers) {
      if (from.rows && to.rows && isUnchanged(from.rows, to.rows, ports)) continue;
      yield* groupsBetween(from, to);
    }
  }
}

/** Tells what differs between two units: of their members alike, and of each with those that are its ancestors. */
function unitComparer(
  before: Reachability,
  after: Reachability,
): (from: JointUnit, to: JointUnit) => readonly DiffGroup[] {
  const describe = describer();
  return (from, to) => {
    const own = from.ancestors.size === 0 ? [] : to.members.filter(({ name }) => from.ancestors.has(name));
    const others = own.length === 0 ? to.members : to.members.filter((member) => !own.includes(member));
    const groups: DiffGroup[] = [];
    const change = changeOf(from, to, examplePair(from.members, others));
    if (change) {
      const dst = others === to.members ? to.names : others.map(({ name }) => name);
      groups.push({ ...change, src: from.names, dst, within: from === to });
    }
    for (const ancestor of own) {
      for (const member of from.members) {
        const single = member === ancestor ? undefined : changeOf(from, to, [member, ancestor]);
        if (single) groups.push({ ...single, src: [member.name], dst: [ancestor.name], within: false });
      }
    }
    return groups;
  };

  function changeOf(
    from: JointUnit,
    to: JointUnit,
    pair: readonly [Member, Member] | undefined,
  ): Omit<DiffRow, 'src' | 'dst'> | undefined {
    if (pair === undefined) return undefined;
    const [src, dst] = pair;
    const old = setOf(before, src.before, dst.before);
    const isWhole = from.changed || to.changed || from.bound;
    const now = isWhole ? setOf(after, src.after, dst.after) : sameHalves(from, to, src, dst);
    if (old === now && before.parts.ports === after.parts.ports) return undefined;
    const [was, is] = [describe(before, old), describe(after, now)];
    if (was.text === is.text) return undefined;
    const type = was.text === '[]' ? 'added' : is.text === '[]' ? 'removed' : 'changed';
    return { type, old: was.allowed, new: is.allowed };
  }

  /** Reads the unchanged half of a pair from the earlier state, whose rows are computed already. */
  function sameHalves(
    from: JointUnit,
    to: JointUnit,
    { before: s, after: src }: Member,
    { before: d, after: dst }: Member,
  ) {
    if (s === undefined || d === undefined || src === undefined || dst === undefined) return NO_PORTS;
    const into = to.receives ? after.ingress(src, dst) : before.ingress(s, d);
    if (into === NO_PORTS) return NO_PORTS;
    return after.parts.ports.meet(from.sends ? after.egress(src, dst) : before.egress(s, d), into);
  }
}

function setOf(reach: Reachability, src: number | undefined, dst: number | undefined): PortSetId {
  return src === undefined || dst === undefined ? NO_PORTS : reach.pair(src, dst);
}

/** Port sets of two engines are numbered apart, so they are compared as text, each written once. */
function describer() {
  const written = new Map<Reachability, Map<number, { allowed: AllowedPorts; text: string }>>();
  return (reach: Reachability, set: PortSetId) => {
    let texts = written.get(reach);
    if (texts === undefined) {
      texts = new Map();
      written.set(reach, texts);
    }
    let found = texts.get(set);
    if (found === undefined) {
      const allowed = reach.parts.ports.describe(set);
      found = { allowed, text: JSON.stringify(allowed) };
      texts.set(set, found);
    }
    return found;
  };
}
