import { type Bits, emptyBits, hasBit, orInto } from './bits.ts';
import type { PairRow } from './matrix.ts';
import type { Direction, PeerInput } from './model.ts';
import { type Allowed, NO_PORTS, type PortSetId, type PortSets } from './port-sets.ts';
import type { Reachability } from './reachability.ts';
import type { Row } from './rows.ts';
import { ancestorsOf } from './units.ts';

/** One ordered pair whose allowed ports differ. `old` of an added and `new` of a removed row are empty. */
export interface DiffRow {
  readonly type: 'added' | 'removed' | 'changed';
  readonly src: string;
  readonly dst: string;
  readonly old: Allowed;
  readonly new: Allowed;
}

/** Every `src` towards every `dst` other than itself changed alike. */
export interface DiffGroup extends Omit<DiffRow, 'src' | 'dst'> {
  /** One array for one set of endpoints in all groups, as of `dst`, save for kin by delegation. */
  readonly src: readonly string[];
  readonly dst: readonly string[];
  /** Whether every `dst` is also a `src`; else the two have nobody in common. */
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
 */
export function* diffGroups(before: Reachability, after: Reachability): Generator<DiffGroup> {
  const units = jointUnits(before, after).map((unit) => ({ ...unit, lane: laneOf(before, after, unit) }));
  const { ports } = before.parts;
  const describe = describer();
  const receivers = units.filter(({ changed, receives }) => changed || receives);
  for (const from of units) {
    for (const to of from.changed || from.sends ? units : receivers) {
      if (from.lane && to.lane && isUntouched(from.lane, to.lane, ports)) continue;
      if (from === to && from.members.length === 1) continue;
      const kin = from.kin.size === 0 ? [] : to.members.filter(({ name }) => from.kin.has(name));
      const rest = kin.length === 0 ? to.members : to.members.filter((member) => !kin.includes(member));
      const other = rest.find((member) => member !== from.members[0]) ?? rest[0];
      const subject = from.members.find((member) => member !== other);
      if (subject && other) {
        const [src, dst] = [from.names, rest === to.members ? to.names : rest.map(({ name }) => name)];
        const changed = changeOf(from, to, subject, other);
        if (changed) yield { ...changed, src, dst, within: from === to };
      }
      for (const own of kin) {
        for (const member of from.members) {
          const changed = member === own ? undefined : changeOf(from, to, member, own);
          if (changed) yield { ...changed, src: [member.name], dst: [own.name], within: false };
        }
      }
    }
  }

  function changeOf(
    from: JointUnit,
    to: JointUnit,
    subject: Member,
    other: Member,
  ): Omit<DiffRow, 'src' | 'dst'> | undefined {
    const old = setOf(before, subject.before, other.before);
    const now =
      from.changed || to.changed || from.bound
        ? setOf(after, subject.after, other.after)
        : sameHalves(from, to, subject, other);
    if (old === now && before.parts.ports === after.parts.ports) return undefined;
    const [was, is] = [describe(before, old), describe(after, now)];
    if (was.text === is.text) return undefined;
    const type = was.text === '[]' ? 'added' : is.text === '[]' ? 'removed' : 'changed';
    return { type, old: was.allowed, new: is.allowed };
  }

  /** What did not change of a pair is read from before, where its rows are computed already. */
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

/** Where a unit without a bound reads what it sends and receives, before and after. */
interface Lane {
  readonly isDead: boolean;
  readonly network: string | undefined;
  readonly oldClass: number;
  readonly newClass: number;
  readonly oldSent: Row;
  /** Undefined where it is what it was, as {@link newReceived}. */
  readonly newSent: Row | undefined;
  readonly oldReceived: Row;
  readonly newReceived: Row | undefined;
}

/** Undefined for a unit of which more differs than its policies: its pairs have to be compared one by one. */
function laneOf({ parts: old }: Reachability, { parts: now }: Reachability, unit: JointUnit): Lane | undefined {
  const { before, after } = unit.members[0] ?? {};
  const [was, is] = [old.endpoints[before ?? -1], now.endpoints[after ?? -1]];
  if (!was || !is || was.external || unit.changed || unit.bound || unit.kin.size > 0) return undefined;
  return {
    isDead: was.dead !== undefined,
    network: was.network,
    oldClass: was.classIndex,
    newClass: is.classIndex,
    oldSent: old.table.row('egress', was.classIndex),
    newSent: unit.sends ? now.table.row('egress', is.classIndex) : undefined,
    oldReceived: old.table.row('ingress', was.classIndex),
    newReceived: unit.receives ? now.table.row('ingress', is.classIndex) : undefined,
  };
}

/** Whether nothing differs between two units, by four look-ups. */
function isUntouched(src: Lane, dst: Lane, ports: PortSets): boolean {
  if (src.isDead || dst.isDead || src.network !== dst.network) return true;
  const out = src.oldSent[dst.oldClass] ?? NO_PORTS;
  const into = dst.oldReceived[src.oldClass] ?? NO_PORTS;
  const outNow = src.newSent === undefined ? out : (src.newSent[dst.newClass] ?? NO_PORTS);
  const intoNow = dst.newReceived === undefined ? into : (dst.newReceived[src.newClass] ?? NO_PORTS);
  if (out === outNow && into === intoNow) return true;
  const wasNothing = out === NO_PORTS || into === NO_PORTS;
  const isNothing = outNow === NO_PORTS || intoNow === NO_PORTS;
  if (wasNothing || isNothing) return wasNothing && isNothing;
  return ports.meet(out, into) === ports.meet(outNow, intoNow);
}

function setOf(reach: Reachability, src: number | undefined, dst: number | undefined): PortSetId {
  return src === undefined || dst === undefined ? NO_PORTS : reach.pair(src, dst);
}

/** Turns the matrix before into the matrix after. */
export function applyDiff(before: Iterable<PairRow>, rows: readonly DiffRow[]): PairRow[] {
  const keyOf = (row: { src: string; dst: string }) => JSON.stringify([row.src, row.dst]);
  const matrix = new Map([...before].map((row) => [keyOf(row), row]));
  for (const row of rows) {
    if (row.type === 'removed') matrix.delete(keyOf(row));
    else matrix.set(keyOf(row), { src: row.src, dst: row.dst, allowed: row.new });
  }
  return [...matrix.values()];
}

interface Member {
  readonly name: string;
  /** Its place before and after; undefined where it does not exist. */
  readonly before: number | undefined;
  readonly after: number | undefined;
}

interface JointUnit {
  readonly members: Member[];
  readonly names: string[];
  readonly kin: ReadonlySet<string>;
  /** Whether anything about its members differs by which rules of others tell them apart, or that they take part at all. */
  readonly changed: boolean;
  /** Whether the policies differ that decide what its members send, and what they receive. */
  readonly sends: boolean;
  readonly receives: boolean;
  readonly bound: boolean;
}

/** The units of peers whose connections with addresses outside of the network may differ. */
export function touchedUnits(before: Reachability, after: Reachability): Pick<JointUnit, 'members' | 'names'>[] {
  // A row tells what differs towards peers: an edited policy may differ towards addresses alone.
  return jointUnits(before, after, { byRows: false }).filter(
    ({ changed, sends, receives, bound }) => changed || sends || receives || bound,
  );
}

/** Endpoints that no pair tells apart, neither before nor after. */
function jointUnits(before: Reachability, after: Reachability, { byRows } = { byRows: true }): JointUnit[] {
  const units = new Map<string, JointUnit>();
  const compare = comparer(before, after, byRows);
  const add = (name: string, was: number | undefined, is: number | undefined) => {
    const changed = compare.changed(was, is);
    const key = `${unitOf(before, was)}\n${unitOf(after, is)}\n${changed}`;
    let unit = units.get(key);
    if (unit === undefined) {
      const kin = new Set([...kinOf(before, was), ...kinOf(after, is)]);
      unit = { members: [], names: [], kin, changed, ...compare.rules(was, is) };
      units.set(key, unit);
    }
    unit.members.push({ name, before: was, after: is });
    unit.names.push(name);
  };
  for (const [place, endpoint] of before.parts.endpoints.entries()) {
    if (endpoint) add(endpoint.name, place, after.placeOf(endpoint.name));
  }
  for (const [place, endpoint] of after.parts.endpoints.entries()) {
    if (endpoint && before.placeOf(endpoint.name) === undefined) add(endpoint.name, undefined, place);
  }
  return [...units.values()];
}

/** Tells what of an endpoint differs. Policies are known by their numbers, which engines do not share. */
function comparer(before: Reachability, after: Reachability, byRows: boolean) {
  const oneEngine = before.parts.ports === after.parts.ports;
  const oneSpace = after.parts.space.continues(before.parts.space);
  const [gone, come] = [subjectsOfOnly(before, after), subjectsOfOnly(after, before)];
  const inputs = oneSpace ? undefined : [inputsOf(before), inputsOf(after)];
  return {
    changed(was: number | undefined, is: number | undefined): boolean {
      const [old, now] = [before.parts.endpoints[was ?? -1], after.parts.endpoints[is ?? -1]];
      if (!oneEngine || !old || !now) return true;
      if (old.dead !== now.dead || old.external !== now.external || old.network !== now.network) return true;
      if (inputs === undefined) return old.classIndex !== now.classIndex;
      const [one, other] = inputs.map((byName) => byName.get(old.name));
      if (!one || !other) return true;
      return !sameLabels(one.labels, other.labels) || one.address !== other.address;
    },
    rules(was: number | undefined, is: number | undefined): Pick<JointUnit, 'sends' | 'receives' | 'bound'> {
      const [old, now] = [before.parts.endpoints[was ?? -1], after.parts.endpoints[is ?? -1]];
      if (!oneEngine || !old || !now) return { sends: true, receives: true, bound: true };
      const bound = old.bound !== undefined || now.bound !== undefined;
      if (old.external) return { sends: bound, receives: false, bound };
      const byDefault = before.parts.table.defaultOf(old.classIndex) !== after.parts.table.defaultOf(now.classIndex);
      const differs = (direction: Direction) => {
        const edited = byDefault || hasBit(gone[direction], old.classIndex) || hasBit(come[direction], now.classIndex);
        if (!edited || !oneSpace || !byRows) return edited;
        return !sameRow(
          before.parts.table.row(direction, old.classIndex),
          after.parts.table.row(direction, now.classIndex),
        );
      };
      return { sends: bound || differs('egress'), receives: differs('ingress'), bound };
    },
  };
}

/** Equal for all classes of the first; those that a later state adds have members that count as changed. */
function sameRow(old: Row, now: Row): boolean {
  return old === now || old.every((set, other) => set === now[other]);
}

/** Peers by name. Externals are not among them: they count as changed, which costs time alone. */
function inputsOf({ model }: Reachability): ReadonlyMap<string, PeerInput> {
  return new Map(model.peers.map((peer) => [peer.name, peer]));
}

/** The classes of a state that some policy selects which the other state has not, by its content. */
function subjectsOfOnly({ parts }: Reachability, other: Reachability): Record<Direction, Bits> {
  const { space, policies } = parts;
  const known = new Set(other.parts.policies.map(({ code }) => code.id));
  const bits = { egress: emptyBits(space.classes.length), ingress: emptyBits(space.classes.length) };
  for (const { code } of policies) {
    if (known.has(code.id)) continue;
    for (const direction of ['egress', 'ingress'] as const) {
      if (code[direction] !== undefined) orInto(bits[direction], space.subjectsOf(code));
    }
  }
  return bits;
}

function sameLabels(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  if (a === b) return true;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}

function unitOf({ parts }: Reachability, place: number | undefined): string {
  return place === undefined ? '' : (parts.endpoints[place]?.unit ?? '');
}

function kinOf({ parts }: Reachability, place: number | undefined): string[] {
  return ancestorsOf(parts.endpoints, place).flatMap((ancestor) => parts.endpoints[ancestor]?.name ?? []);
}

/** Port sets of two engines are numbered apart, so they are compared as text, each written once. */
function describer() {
  const written = new Map<Reachability, Map<number, { allowed: Allowed; text: string }>>();
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
