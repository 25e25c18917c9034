import { type Bits, emptyBits, hasBit, orInto } from './bits.ts';
import type { Direction, PeerInput } from './model.ts';
import type { Reachability } from './reachability.ts';
import type { Row } from './rows.ts';
import { ancestorsOf } from './units.ts';

/** An endpoint of two states. */
export interface Member {
  readonly name: string;
  /** Its place before and after; undefined where it does not exist. */
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** Endpoints that no pair tells apart, neither before nor after, save towards their ancestors. */
export interface JointUnit {
  readonly members: Member[];
  readonly names: string[];
  /** Names of those by whose delegation the members are bound, before or after. */
  readonly ancestors: ReadonlySet<string>;
  /** True where members differ in anything by which rules of others distinguish them, or in whether they take part at all. */
  readonly changed: boolean;
  /** True where the policies differ that decide what its members send, and likewise `receives`. */
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

/** The endpoints of two states by {@link JointUnit}. */
export function jointUnits(before: Reachability, after: Reachability, { byRows } = { byRows: true }): JointUnit[] {
  const units = new Map<string, JointUnit>();
  const compare = comparer(before, after, byRows);
  const add = (name: string, was: number | undefined, is: number | undefined) => {
    const changed = compare.changed(was, is);
    const key = `${unitOf(before, was)}\n${unitOf(after, is)}\n${changed}`;
    let unit = units.get(key);
    if (unit === undefined) {
      const ancestors = new Set([...ancestorNames(before, was), ...ancestorNames(after, is)]);
      unit = { members: [], names: [], ancestors, changed, ...compare.rules(was, is) };
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

function ancestorNames({ parts }: Reachability, place: number | undefined): string[] {
  return ancestorsOf(parts.endpoints, place).flatMap((ancestor) => parts.endpoints[ancestor]?.name ?? []);
}
