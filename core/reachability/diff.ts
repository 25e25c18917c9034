import { type Allowed, NO_PORTS } from './port-sets.ts';
import type { PairRow, Reachability } from './reachability.ts';
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
  readonly src: readonly string[];
  readonly dst: readonly string[];
}

/** The pairs that differ, one by one. */
export function diff(before: Reachability, after: Reachability): DiffRow[] {
  return [...diffGroups(before, after)].flatMap(({ src, dst, ...change }) =>
    src.flatMap((from) => dst.filter((to) => to !== from).map((to) => ({ ...change, src: from, dst: to }))),
  );
}

/** The same, by groups of endpoints that changed alike: compares kinds of endpoints with each other, not all pairs. */
export function* diffGroups(before: Reachability, after: Reachability): Generator<DiffGroup> {
  const units = jointUnits(before, after);
  const describe = describer();
  for (const from of units) {
    for (const to of units) {
      if (from === to && from.members.length === 1) continue;
      const kin = to.members.filter(({ name }) => from.kin.has(name));
      const rest = kin.length === 0 ? to.members : to.members.filter((member) => !kin.includes(member));
      const other = rest.find((member) => member !== from.members[0]) ?? rest[0];
      const subject = from.members.find((member) => member !== other);
      if (subject && other) yield* groupOf(from.members, rest, subject, other);
      for (const own of kin) {
        for (const member of from.members) if (member !== own) yield* groupOf([member], [own], member, own);
      }
    }
  }

  /** Sets of one engine have one numbering, so that most pairs need no description. */
  function areSame(subject: Member, other: Member): boolean {
    if (before.parts.ports !== after.parts.ports) return false;
    return pairOf(before, subject.before, other.before) === pairOf(after, subject.after, other.after);
  }

  function* groupOf(
    src: readonly Member[],
    dst: readonly Member[],
    subject: Member,
    other: Member,
  ): Generator<DiffGroup> {
    if (areSame(subject, other)) return;
    const old = describe(before, subject.before, other.before);
    const now = describe(after, subject.after, other.after);
    if (old.text === now.text) return;
    const type = old.text === '[]' ? 'added' : now.text === '[]' ? 'removed' : 'changed';
    yield {
      type,
      src: src.map(({ name }) => name),
      dst: dst.map(({ name }) => name),
      old: old.allowed,
      new: now.allowed,
    };
  }
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
  readonly kin: ReadonlySet<string>;
}

/** Endpoints that no pair tells apart, neither before nor after. */
function jointUnits(before: Reachability, after: Reachability): JointUnit[] {
  const units = new Map<string, JointUnit>();
  const names = new Set([...before.parts.endpoints, ...after.parts.endpoints].flatMap((one) => one?.name ?? []));
  for (const name of names) {
    const member = { name, before: before.placeOf(name), after: after.placeOf(name) };
    const key = JSON.stringify([unitOf(before, member.before), unitOf(after, member.after)]);
    const known = units.get(key);
    if (known) known.members.push(member);
    else {
      const kin = new Set([...kinOf(before, member.before), ...kinOf(after, member.after)]);
      units.set(key, { members: [member], kin });
    }
  }
  return [...units.values()];
}

function unitOf({ parts }: Reachability, place: number | undefined): string | null {
  return place === undefined ? null : (parts.endpoints[place]?.unit ?? null);
}

function kinOf({ parts }: Reachability, place: number | undefined): string[] {
  return ancestorsOf(parts.endpoints, place).flatMap((ancestor) => parts.endpoints[ancestor]?.name ?? []);
}

function pairOf(reach: Reachability, src: number | undefined, dst: number | undefined): number {
  return src === undefined || dst === undefined ? NO_PORTS : reach.pair(src, dst);
}

/** Port sets of two states may be numbered apart, so they are compared as text, each written once. */
function describer() {
  const written = new Map<Reachability, Map<number, { allowed: Allowed; text: string }>>();
  return (reach: Reachability, src: number | undefined, dst: number | undefined) => {
    const set = pairOf(reach, src, dst);
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
