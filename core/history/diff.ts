import type { AssertionRecord } from '../assertions/assertion.ts';
import { assertionsOf } from '../assertions/manage.ts';
import { isObject } from '../base/is-object.ts';
import { jsonPointer } from '../base/json-pointer.ts';
import type { StoredRecord } from '../base/record.ts';
import type { PortSpan } from '../effect/port-spans.ts';
import { withPeerNames } from '../model/peer-lists.ts';
import { sameValue } from '../model/value.ts';
import { createEngine } from '../reachability/engine.ts';
import type { DiffRow } from '../reachability/reach-diff.ts';
import { modelOf } from '../state/network-model.ts';
import { groupsOf } from '../state/peer-groups.ts';
import type { NetworkServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { type AssertionFlip, assertionFlips } from './assertion-flips.ts';
import type { ChangeView } from './blame.ts';
import { commitsBetween } from './commits-between.ts';
import type { Moment } from './moment.ts';
import { newExposures } from './new-exposure.ts';
import { byNewName, type NewNames, newNames, withNewNames } from './new-names.ts';
import { apartFrom } from './reach-groups.ts';
import { recordDifferences, revertibleChangesOf } from './record-differences.ts';
import { type ChangeRef, causeFinder, passesTime } from './row-causes.ts';
import { cellsOf } from './row-cells.ts';
import { groupsOfCells, pageOfRows, type RowGroup, type RowWithCauses } from './row-groups.ts';
import { SNAPSHOT_LISTS, semanticOf } from './semantic.ts';

export type ResourceRef = { readonly kind: string; readonly name: string };
/** Where two versions of a resource differ: RFC 6901 pointers into the custom resource. */
export type ChangedResource = ResourceRef & { readonly changes: ChangedPath[] };
export type ChangedPath = { readonly path: string; readonly old?: unknown; readonly new?: unknown };

/** A group of connections, and the changes that made it: see `commits` for what a revision is. */
export interface GroupView extends Omit<DiffRow, 'src' | 'dst'> {
  /** Labels that exactly these peers have, names, or addresses outside. */
  readonly src: readonly string[];
  readonly dst: readonly string[];
  readonly pairs: number;
  /** Each alone made it: taken back, it is gone; or none did, and all of them together. None where there are too many. */
  readonly changes: readonly ChangeRef[];
  readonly together: boolean;
}

export interface ExposureView {
  /** Addresses outside, or `everyone`: every other peer of the network. */
  readonly src: readonly string[];
  readonly dst: readonly string[];
  readonly opened: readonly PortSpan[];
  readonly changes: readonly ChangeRef[];
}

export interface StateDiff {
  readonly added: ResourceRef[];
  readonly removed: ResourceRef[];
  readonly changed: ChangedResource[];
  readonly presence: { readonly peer: string; readonly old: string; readonly new: string }[];
  /** A page of the connections that differ: of peers, or of a peer and addresses outside. */
  readonly groups: GroupView[];
  /** The connections of the groups of this page, one by one, each with the resources that did it. */
  readonly connectivity: RowWithCauses[];
  /** Connections of groups, or rests of groups, behind this page. */
  readonly omitted_connectivity: number;
  /** False where addresses outside of the network are too many to be compared. */
  readonly outside_compared: boolean;
  readonly exposure: ExposureView[];
  readonly assertions: AssertionFlip[];
  /** Commits between the two, oldest first: the first of them, and those that this page names. */
  readonly commits: ChangeView[];
  /** Totals of all pages. */
  readonly summary: {
    readonly groups: number;
    /** Connections for which there was too much to look for a cause. */
    readonly unattributed_pairs: number;
    readonly exposure: number;
    readonly more_commits: boolean;
    /** Since when commits are kept, where the earlier moment is before that. */
    readonly known_since: string | null;
  };
  readonly next_cursor?: string;
}

/** Comparisons share what consecutive states have in common; its memory is bounded. */
const engine = createEngine();

const MAX_COMMITS = 200;
const MAX_EXPOSURE = 200;

export interface DiffPage {
  readonly cursor?: string | undefined;
  /** Groups. */
  readonly limit: number;
}

/**
 * Returns the difference from one moment of a network to another, in resources and in who may reach whom, with its causes. A
 * renamed peer is one peer, with its later name in all connections.
 *
 * @throws MeshError `invalid_input` for a malformed cursor
 */
export async function diffStates(
  services: Pick<NetworkServices, 'store'>,
  earlier: Moment,
  { state: later, at }: Moment,
  page: DiffPage = { limit: 50 },
): Promise<StateDiff> {
  const names = newNames(earlier.state, later);
  const from = { state: withNewNames(earlier.state, names), at: earlier.at };
  const to = { state: withShared(later, from.state), at };
  const was = engine.compile(modelOf(from.state, from.at));
  const is = engine.compile(modelOf(to.state, to.at));
  const [older, newer] = from.state.revision <= to.state.revision ? [from.state, to.state] : [to.state, from.state];
  const alterations = await revertibleChangesOf(services, recordDifferences(from.state, to.state), older, newer, names);
  const found = cellsOf({ from, to, was, is }, alterations, passesTime(from, to), engine);
  const finder = causeFinder(from, to, alterations, found.cells);
  const groups = groupsOfCells(found, finder);
  const shown = pageOfRows(groups, finder, { cursor: page.cursor, limit: page.limit });
  const exposure = newExposures(groups, was, is);
  const [before, after] = await Promise.all([assertionsAt(services, from.state), assertionsAt(services, to.state)]);
  // An assertion says the names that peers had.
  const called = names.size === 0 ? was : engine.compile(modelOf(earlier.state, earlier.at));
  const peers = new Map([...from.state.peers, ...to.state.peers]);
  const named = [...shown.groups, ...exposure.slice(0, MAX_EXPOSURE)].flatMap(({ changes = [] }) =>
    changes.flatMap(({ revisions }) => revisions),
  );
  const { commits, ...rest } = await commitsBetween(services, older, newer, { limit: MAX_COMMITS, named });
  return {
    ...resourceDiff({ ...earlier.state, assertions: before }, { ...to.state, assertions: after }, names),
    presence: presenceDiff(from.state, to.state),
    groups: shown.groups.map((group) => groupView(group, peers)),
    connectivity: [...shown.rows],
    omitted_connectivity: shown.omitted,
    outside_compared: found.isOutsideCompared,
    exposure: exposure.slice(0, MAX_EXPOSURE).map(({ src, dst, opened, changes = [] }) => {
      return { src, dst: groupsOf(dst, { peers }), opened, changes };
    }),
    assertions: assertionFlips(
      { ...earlier, reach: called, assertions: before },
      { ...to, reach: is, assertions: after },
    ),
    commits,
    summary: {
      groups: groups.length,
      unattributed_pairs: groups.reduce((sum, { changes, pairs }) => sum + (changes ? 0 : pairs), 0),
      exposure: exposure.length,
      ...rest,
    },
    ...(shown.next !== undefined && { next_cursor: shown.next }),
  };
}

function groupView(group: RowGroup, peers: NetworkState['peers']): GroupView {
  const { type, src, dst, side, old, new: now, pairs, changes = [], together } = group;
  return {
    type,
    src: side === 'src' ? src : groupsOf(apartFrom(src, dst), { peers }, dst),
    dst: side === 'dst' ? dst : groupsOf(apartFrom(dst, src), { peers }, src),
    old,
    new: now,
    pairs,
    changes,
    together,
  };
}

const FIELDS = [...SNAPSHOT_LISTS, 'assertions'] as const;

/** The same state with the records of another where they are the same version: what is one object need not be compared. */
function withShared(state: NetworkState, other: NetworkState): NetworkState {
  const shared = <R extends StoredRecord>(own: ReadonlyMap<string, R>, others: ReadonlyMap<string, R>) => {
    if (own === others) return own;
    const records = new Map(own);
    for (const [name, { uid, revision }] of own) {
      const same = others.get(name);
      if (same && same.uid === uid && same.revision === revision) records.set(name, same);
    }
    return records;
  };
  return {
    ...state,
    peers: shared(state.peers, other.peers),
    policies: shared(state.policies, other.policies),
    waiting: shared(state.waiting, other.waiting),
    networks: shared(state.networks, other.networks),
    agents: shared(state.agents, other.agents),
  };
}

type DiffState = NetworkState & { readonly assertions: ReadonlyMap<string, AssertionRecord> };

/** Assertions decide nothing of who reaches whom, so they are no part of a state; they change beside it. */
function assertionsAt(services: Pick<NetworkServices, 'store'>, { workspace, revision }: NetworkState) {
  return assertionsOf(services, workspace, { revision });
}

function resourceDiff(
  from: DiffState,
  to: DiffState,
  names: NewNames,
): Pick<StateDiff, 'added' | 'removed' | 'changed'> {
  const found = { added: [] as ResourceRef[], removed: [] as ResourceRef[], changed: [] as ChangedResource[] };
  for (const field of FIELDS) {
    const old: ReadonlyMap<string, StoredRecord> = field === 'peers' ? byNewName(from.peers, names) : from[field];
    const now: ReadonlyMap<string, StoredRecord> = to[field];
    for (const [name, { kind }] of old) if (!now.has(name)) found.removed.push({ kind, name });
    for (const record of now.values()) {
      const { kind, name } = record;
      const before = old.get(name);
      if (!before) found.added.push({ kind, name });
      else if (before !== record) {
        const changes = [...valueDiff(semanticOf(before), semanticOf(record), '')].map((one) => named(one, from, to));
        if (changes.length > 0) found.changed.push({ kind, name, changes });
      }
    }
  }
  return found;
}

/** With the names that peers had at either moment; ids where the same name means another peer. */
function named(change: ChangedPath, from: NetworkState, to: NetworkState): ChangedPath {
  const path = change.path.split('/');
  const old = withPeerNames(change.old, from.peers, path);
  const now = withPeerNames(change.new, to.peers, path);
  if (sameValue(old, now)) return change;
  return { path: change.path, ...('old' in change && { old }), ...('new' in change && { new: now }) };
}

function presenceDiff(from: NetworkState, to: NetworkState): StateDiff['presence'] {
  const rows: StateDiff['presence'] = [];
  for (const peer of new Set([...from.peers.keys(), ...to.peers.keys()])) {
    const old = from.presence.get(peer)?.spec.online ? 'online' : 'offline';
    const now = to.presence.get(peer)?.spec.online ? 'online' : 'offline';
    if (old !== now) rows.push({ peer, old, new: now });
  }
  return rows;
}

/** Where two values differ. */
export function changedPaths(old: unknown, now: unknown): ChangedPath[] {
  return [...valueDiff(old, now, '')];
}

function* valueDiff(old: unknown, now: unknown, path: string): Generator<ChangedPath> {
  if (isObject(old) && isObject(now)) {
    for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
      yield* valueDiff(old[key], now[key], path + jsonPointer([key]));
    }
  } else if (JSON.stringify(old) !== JSON.stringify(now)) {
    yield { path, ...(old !== undefined && { old }), ...(now !== undefined && { new: now }) };
  }
}
