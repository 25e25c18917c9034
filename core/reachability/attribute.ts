import { createEngine, type Engine } from './engine.ts';
import type { ExternalInput, NetworkModel } from './model.ts';
import { externalOf, outsideGroups } from './outside.ts';
import type { Allowed } from './port-sets.ts';
import { type DiffRow, firstRows } from './reach-diff.ts';
import type { Reachability } from './reachability.ts';

/** One resource as it was and as it is: absent before when created, absent after when deleted. */
export type ResourceChange = { readonly [K in ResourceKind]: Changed<K> }[ResourceKind];

type ResourceKind = 'policies' | 'peers' | 'networks' | 'externals';
type Resource<K extends ResourceKind> = NonNullable<NetworkModel[K]>[number];

interface Changed<K extends ResourceKind> {
  readonly kind: K;
  readonly name: string;
  readonly before: Resource<K> | undefined;
  readonly after: Resource<K> | undefined;
}

/** The passing of time, where an expiry rather than a write changed a pair. */
export const TIME_PASSED = 'time';

export interface AttributedRow extends DiffRow {
  /**
   * The changes behind the row, as `kind/name`. Each alone makes the row, or, where none does, the row is lost without
   * it; where neither singles one out, all of them.
   */
  readonly causes: readonly string[];
}

/** How many changes are weighed one by one; above it every row names none, since the set as a whole is the cause. */
export const MAX_ATTRIBUTED_CHANGES = 200;

/** The resources in which two models differ. */
export function changesBetween(before: NetworkModel, after: NetworkModel): ResourceChange[] {
  const kinds = ['policies', 'peers', 'networks', 'externals'] as const;
  return kinds.flatMap((kind): ResourceChange[] => {
    const old = new Map((before[kind] ?? []).map((one) => [one.name, one]));
    const now = new Map((after[kind] ?? []).map((one) => [one.name, one]));
    return [...new Set([...old.keys(), ...now.keys()])]
      .map((name) => ({ kind, name, before: old.get(name), after: now.get(name) }) as ResourceChange)
      .filter(({ before: one, after: other }) => one !== other && JSON.stringify(one) !== JSON.stringify(other));
  });
}

/**
 * The difference of two models with the change behind each row. Each change is tried alone on the state before, and,
 * for rows that takes no single change to make, left out of the state after.
 */
export function attribute(
  before: NetworkModel,
  changes: readonly ResourceChange[],
  after: NetworkModel,
  engine: Engine = createEngine(),
): AttributedRow[] {
  return attributeFirst(before, changes, after, engine, Number.POSITIVE_INFINITY).rows;
}

/** The same of some rows; the others are counted. Costs a compilation or two for each change, whatever the rows. */
export function attributeFirst(
  before: NetworkModel,
  changes: readonly ResourceChange[],
  after: NetworkModel,
  engine: Engine,
  limit: number,
): { readonly rows: AttributedRow[]; readonly omitted: number } {
  const { rows, omitted } = firstRows(engine.compile(before), engine.compile(after), limit);
  return { rows: attributeRows(rows, new Map(), before, changes, after, engine), omitted };
}

/** The same with rows of addresses outside of the network behind those of peers. */
export function attributeWithOutside(
  before: NetworkModel,
  changes: readonly ResourceChange[],
  after: NetworkModel,
  engine: Engine,
  limit: number,
): { readonly rows: AttributedRow[]; readonly omitted: number; readonly isOutsideCompared: boolean } {
  const [was, is] = [engine.compile(before), engine.compile(after)];
  const between = firstRows(was, is, limit);
  const outside = outsideRows(was, is);
  const taken = (outside ?? []).slice(0, limit - between.rows.length);
  const rows: DiffRow[] = [...between.rows, ...taken.map(({ row }) => row)];
  const probes = new Map(taken.map(({ row, probe }) => [row, probe]));
  const probed = new Map(taken.map(({ external }) => [external.name, external]));
  const withProbes = (model: NetworkModel) => ({
    ...model,
    externals: [...(model.externals ?? []), ...probed.values()],
  });
  return {
    rows: attributeRows(rows, probes, withProbes(before), changes, withProbes(after), engine),
    omitted: between.omitted + (outside?.length ?? 0) - taken.length,
    isOutsideCompared: outside !== undefined,
  };
}

function attributeRows(
  rows: readonly DiffRow[],
  probes: ReadonlyMap<DiffRow, Pick<DiffRow, 'src' | 'dst'>>,
  before: NetworkModel,
  changes: readonly ResourceChange[],
  after: NetworkModel,
  engine: Engine,
): AttributedRow[] {
  if (rows.length === 0 || changes.length > MAX_ATTRIBUTED_CHANGES) {
    return rows.map((row) => ({ ...row, causes: [] }));
  }
  const trials: { readonly label: string; readonly alone: NetworkModel; readonly without: NetworkModel }[] =
    changes.map((change) => ({
      label: `${change.kind}/${change.name}`,
      alone: withChange(before, change),
      without: withoutChange(after, change),
    }));
  if (before.now !== after.now) {
    trials.push({
      label: TIME_PASSED,
      alone: { ...before, now: after.now },
      without: { ...after, now: before.now },
    });
  }
  const textOf = describer();
  const causes = new Map<DiffRow, string[]>();
  for (const { label, alone } of trials) {
    const reach = engine.compile(alone);
    for (const row of rows) if (textOf(allowedOf(reach, row)) === textOf(row.new)) note(causes, row, label);
  }
  const unmade = rows.filter((row) => !causes.has(row));
  for (const { label, without } of unmade.length > 0 ? trials : []) {
    const reach = engine.compile(without);
    for (const row of unmade) if (textOf(allowedOf(reach, row)) !== textOf(row.new)) note(causes, row, label);
  }
  const everything = trials.map(({ label }) => label);
  return rows.map((row) => ({ ...row, causes: causes.get(row) ?? everything }));

  function allowedOf(reach: Reachability, row: DiffRow): Allowed {
    return allowedIn(reach, probes.get(row) ?? row);
  }
}

/** A row of addresses outside of the network, and one of them that stands for it. */
interface OutsideRow {
  readonly row: DiffRow;
  readonly probe: Pick<DiffRow, 'src' | 'dst'>;
  readonly external: ExternalInput;
}

function outsideRows(before: Reachability, after: Reachability): OutsideRow[] | undefined {
  const groups = outsideGroups(before, after, (old, now) => {
    const text = JSON.stringify([old, now]);
    return JSON.stringify(old) === JSON.stringify(now) ? undefined : { old, new: now, text };
  });
  return groups?.flatMap(({ side, ranges, names, peers, delta }) => {
    const external = externalOf(ranges);
    const type = isNothing(delta.old) ? 'added' : isNothing(delta.new) ? 'removed' : 'changed';
    return names.flatMap((name) =>
      peers.map((peer): OutsideRow => {
        const ends = (end: string) => (side === 'src' ? { src: end, dst: peer } : { src: peer, dst: end });
        return { row: { type, ...ends(name), old: delta.old, new: delta.new }, probe: ends(external.name), external };
      }),
    );
  });
}

function isNothing(allowed: Allowed): boolean {
  return allowed !== 'ALL' && allowed.length === 0;
}

function allowedIn(reach: Reachability, { src, dst }: Pick<DiffRow, 'src' | 'dst'>): Allowed {
  const [from, to] = [reach.placeOf(src), reach.placeOf(dst)];
  return from === undefined || to === undefined ? [] : reach.parts.ports.describe(reach.pair(from, to));
}

/** Each list of ports as text, written once: port sets of two compilations may be numbered apart. */
function describer(): (allowed: Allowed) => string {
  const texts = new Map<Allowed, string>();
  return (allowed) => {
    const known = texts.get(allowed) ?? JSON.stringify(allowed);
    texts.set(allowed, known);
    return known;
  };
}

function withChange(model: NetworkModel, change: ResourceChange): NetworkModel {
  return replaced(model, change, change.after);
}

function withoutChange(model: NetworkModel, change: ResourceChange): NetworkModel {
  return replaced(model, change, change.before);
}

function replaced(model: NetworkModel, { kind, name }: ResourceChange, value: ResourceChange['after']): NetworkModel {
  const list: readonly { readonly name: string }[] = model[kind] ?? [];
  const at = list.findIndex((one) => one.name === name);
  const rest = list.filter((one) => one.name !== name);
  if (value === undefined) return { ...model, [kind]: rest };
  return { ...model, [kind]: at < 0 ? [...rest, value] : list.with(at, value) };
}

function note(causes: Map<DiffRow, string[]>, row: DiffRow, label: string): void {
  const known = causes.get(row);
  if (known) known.push(label);
  else causes.set(row, [label]);
}
