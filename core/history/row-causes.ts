import { getOrInsertComputed } from '../base/get-or-insert.ts';
import { parseInstant } from '../base/time.ts';
import { policySpecSchema } from '../model/policy.ts';
import { selects } from '../model/selector.ts';
import { type Attribution, attribute } from '../reachability/attribute.ts';
import { createEngine } from '../reachability/engine.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { modelOf } from '../state/network-model.ts';
import type { NetworkState } from '../state/state.ts';
import { isForwards, type Moment } from './moment.ts';
import { isDelegated, type RecordDifference, type RevertibleChange, withReverted } from './record-differences.ts';
import type { Cell } from './row-cells.ts';

/** The passing of time, where an expiry rather than a write changed a connection. */
export const TIME_PASSED = 'time';

/** Revisions that were taken back as one, or the passing of time. */
export interface ChangeRef {
  readonly revisions: readonly number[];
  readonly time: boolean;
}

/** Which changes made a cell: each alone, or all of them together. */
export interface CellCauses {
  readonly changes: readonly ChangeRef[];
  readonly together: boolean;
}

/** Changes that are tried one by one, and cells of which the single resources are. */
const MAX_CHANGES = 1_000;
const MAX_SEARCHES = 500;

/** Engine for trial states: they have few peers, so they are compiled apart from whole states. */
const engine = createEngine();

/** Finds what made the cells of a difference, by taking changes back in the later state. */
export function causeFinder(
  from: Moment,
  to: Moment,
  alterations: readonly RevertibleChange[],
  cells: readonly Cell[],
) {
  const alike = cells.filter(({ isAlike }) => isAlike);
  const names = new Set(alike.flatMap(({ example }) => [example.src, example.dst]));
  for (const { peers } of [from.state, to.state])
    for (const name of peers.keys()) if (isDelegated(name, from.state, to.state)) names.add(name);
  const isRelevant = ({ kind, name }: RecordDifference) => kind !== 'MeshPeer' || names.has(name);
  const relevant = alterations
    .map((one) => ({ ...one, records: one.records.filter(isRelevant) }))
    .filter(({ records }) => records.length > 0);
  const byId = new Map(relevant.map((one) => [one.id, one]));
  const ids = [...byId.keys(), ...(passesTime(from, to) ? [TIME_PASSED] : [])];
  const few = only(to.state, names);
  const tooMany = ids.length > MAX_CHANGES;
  const found: ReadonlyMap<Cell, Attribution> = tooMany
    ? new Map()
    : attribute(alike, ids, (undone) => {
        const records = [...undone].flatMap((id) => byId.get(id)?.records ?? []);
        return goneIn(withReverted(few, records), undone.has(TIME_PASSED) ? from.at : to.at, alike);
      });
  const resources = new Map<Cell, Attribution>();
  let searches = 0;

  return {
    /** Undefined where it was too much to look for. */
    of(cell: Cell): CellCauses | undefined {
      const { causes, together } = found.get(cell) ?? {};
      if (!causes || together === undefined) return undefined;
      const changes = causes.map((id): ChangeRef => {
        const one = byId.get(id);
        return { revisions: one ? (together ? one.revisions : newestOf(one, cell)) : [], time: id === TIME_PASSED };
      });
      return { changes, together };
    },

    /** The same by single resources, as `policies/web-to-db`. */
    resourcesOf(cell: Cell): Attribution {
      return getOrInsertComputed(resources, cell, () => resourcesBehind(cell));
    },
  };

  function resourcesBehind(cell: Cell): Attribution {
    const { causes, together } = found.get(cell) ?? { causes: [], together: false };
    const parts = (together ? [causes] : causes.map((id) => [id])).map((ids) => resourcesIn(ids, cell));
    const alone = parts.flatMap((part) => (part.together ? [] : part.causes));
    return alone.length > 0 || !parts[0] ? { causes: [...new Set(alone)], together: false } : parts[0];
  }

  /** Returns the resources that caused a cell, among the changes that are taken back together. */
  function resourcesIn(ids: readonly string[], cell: Cell): Attribution {
    const records = ids.flatMap((id) => byId.get(id)?.records ?? []).filter((one) => concerns(one, cell, from, to));
    const own = new Map(records.map((one) => [one.id, one]));
    const candidates = [...own.keys(), ...(ids.includes(TIME_PASSED) ? [TIME_PASSED] : [])];
    if (candidates.length <= 1) return { causes: candidates, together: false };
    if (candidates.length === ids.length || searches >= MAX_SEARCHES) return { causes: candidates, together: true };
    searches += 1;
    const ends = endsOf(cell);
    const answer = attribute([cell], candidates, (undone) => {
      const at = undone.has(TIME_PASSED) ? from.at : to.at;
      return goneIn(
        withReverted(
          ends,
          [...undone].flatMap((id) => own.get(id) ?? []),
        ),
        at,
        [cell],
      );
    });
    return answer.get(cell) ?? { causes: candidates, together: true };
  }

  /** The later state with as many peers as decide about a cell. */
  function endsOf(cell: Cell): NetworkState {
    return only(to.state, new Set([...names].filter((name) => isEnd(name, cell) || isBound(name))));
  }

  function isBound(name: string): boolean {
    return isDelegated(name, from.state, to.state);
  }

  /** Returns the last of some revisions of the same records that, taken back, take the cell back. */
  function newestOf({ revisions, steps }: RevertibleChange, cell: Cell): readonly number[] {
    if (!isForwards(from, to)) return revisions;
    const isGone = (records: readonly RecordDifference[]) =>
      goneIn(withReverted(endsOf(cell), records.filter(isRelevant)), to.at, [cell])(cell);
    const found = steps.findIndex(isGone);
    return found < 0 ? revisions : revisions.slice(-found - 1);
  }
}

/** Returns true if a record expires between two moments. */
export function passesTime(from: Moment, to: Moment): boolean {
  const [first, last] = [Math.min(from.at, to.at), Math.max(from.at, to.at)];
  return [from.state, to.state].some(({ peers, policies, agents }) =>
    [peers, policies, agents].some((records) => {
      for (const { spec } of records.values()) {
        if (spec.expiresAt === undefined) continue;
        const at = parseInstant(spec.expiresAt);
        if (at > first && at <= last) return true;
      }
      return false;
    }),
  );
}

/** Tells of each cell whether its connections are in a state what they were before. */
function goneIn(state: NetworkState, at: number, cells: readonly Cell[]): (cell: Cell) => boolean {
  const externals = new Map(
    cells.flatMap(({ outside }) => (outside ? [[outside.external.name, outside.external]] : [])),
  );
  const reach = engine.compile({ ...modelOf(state, at), externals: [...externals.values()] });
  return ({ example, old }) => JSON.stringify(allowedIn(reach, example)) === JSON.stringify(old);
}

function allowedIn(reach: Reachability, { src, dst }: Cell['example']) {
  const [from, to] = [reach.placeOf(src), reach.placeOf(dst)];
  return from === undefined || to === undefined ? [] : reach.parts.ports.describe(reach.pair(from, to));
}

function only(state: NetworkState, names: ReadonlySet<string>): NetworkState {
  return { ...state, peers: new Map([...state.peers].filter(([name]) => names.has(name))) };
}

function isEnd(name: string, { example }: Cell): boolean {
  return name === example.src || name === example.dst;
}

/** Returns true if a record can affect a cell: a policy only where it selects an end, before or after. */
function concerns({ kind, name, before, after }: RecordDifference, cell: Cell, ...moments: readonly Moment[]): boolean {
  if (kind === 'MeshPeer') return isEnd(name, cell) || isDelegated(name, ...moments.map(({ state }) => state));
  if (kind !== 'MeshPolicy') return true;
  const ends = moments.flatMap(({ state }) =>
    [cell.example.src, cell.example.dst].flatMap((end) => state.peers.get(end) ?? []),
  );
  const isBound = ends.some(({ name: end }) => isDelegated(end, ...moments.map(({ state }) => state)));
  return [before, after].some((record) => {
    if (!record) return false;
    const { success, data } = policySpecSchema.safeParse(record.spec);
    return !success || isBound || ends.some((end) => selects(data.peerSelector ?? {}, end));
  });
}
