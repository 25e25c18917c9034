import type { AssertionRecord } from '../assertions/assertion.ts';
import { assertionsOf } from '../assertions/manage.ts';
import { jsonPointer } from '../base/json-pointer.ts';
import type { StoredRecord } from '../base/record.ts';
import { withPeerNames } from '../model/peer-lists.ts';
import { sameValue } from '../model/value.ts';
import { type AttributedRow, attributeWithOutside, changesBetween } from '../reachability/attribute.ts';
import { createEngine } from '../reachability/engine.ts';
import { modelOf } from '../state/network-model.ts';
import type { NetworkServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { commitView, type NetworkCommit, networkCommits } from './blame.ts';
import { SNAPSHOT_LISTS, semanticOf } from './semantic.ts';

export type ResourceRef = { readonly kind: string; readonly name: string };
/** Where two versions of a resource differ: RFC 6901 pointers into the custom resource. */
export type ChangedResource = ResourceRef & { readonly changes: ChangedPath[] };
export type ChangedPath = { readonly path: string; readonly old?: unknown; readonly new?: unknown };

export interface StateDiff {
  readonly added: ResourceRef[];
  readonly removed: ResourceRef[];
  readonly changed: ChangedResource[];
  readonly presence: { readonly peer: string; readonly old: string; readonly new: string }[];
  /** Pairs of peers, or of a peer and addresses outside, whose allowed ports differ, each with the resources that caused it. */
  readonly connectivity: AttributedRow[];
  readonly omitted_connectivity: number;
  /** False where addresses outside of the network are too many to be compared. */
  readonly outside_compared: boolean;
  /** The commits between the two, oldest first: who changed what, and who approved it. */
  readonly commits: NetworkCommit[];
}

/** A state and the instant it is looked at, ms: expiries count from it. */
export interface Moment {
  readonly state: NetworkState;
  readonly at: number;
}

/** Comparisons share what consecutive states have in common; its memory is bounded. */
const engine = createEngine();

const MAX_ROWS = 1_000;
const MAX_COMMITS = 200;

/** What differs from one moment of a network to another, in resources and in who may reach whom, and why. */
export async function diffStates(
  services: Pick<NetworkServices, 'store'>,
  from: Moment,
  { state: later, at }: Moment,
): Promise<StateDiff> {
  const to = { state: sharing(later, from.state), at };
  const before = modelOf(from.state, from.at);
  const after = modelOf(to.state, to.at);
  const connectivity = attributeWithOutside(before, changesBetween(before, after), after, engine, MAX_ROWS);
  const [older, newer] = from.state.revision <= to.state.revision ? [from.state, to.state] : [to.state, from.state];
  const span = { after: older.revision, upTo: newer.revision, limit: MAX_COMMITS };
  const commits = await networkCommits(services, newer.workspace, span);
  return {
    ...resourceDiff(
      { ...from.state, assertions: await assertionsAt(services, from.state) },
      { ...to.state, assertions: await assertionsAt(services, to.state) },
    ),
    presence: presenceDiff(from.state, to.state),
    connectivity: connectivity.rows,
    omitted_connectivity: connectivity.omitted,
    outside_compared: connectivity.isOutsideCompared,
    commits: commits.map(commitView),
  };
}

const FIELDS = [...SNAPSHOT_LISTS, 'assertions'] as const;

/** The same state with the records of another where they are the same version: what is one object need not be compared. */
function sharing(state: NetworkState, other: NetworkState): NetworkState {
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
    networks: shared(state.networks, other.networks),
    agents: shared(state.agents, other.agents),
  };
}

type Compared = NetworkState & { readonly assertions: ReadonlyMap<string, AssertionRecord> };

/** Assertions decide nothing of who reaches whom, so they are no part of a state; they change beside it. */
function assertionsAt(services: Pick<NetworkServices, 'store'>, { workspace, revision }: NetworkState) {
  return assertionsOf(services, workspace, { revision });
}

function resourceDiff(from: Compared, to: Compared): Pick<StateDiff, 'added' | 'removed' | 'changed'> {
  const found = { added: [] as ResourceRef[], removed: [] as ResourceRef[], changed: [] as ChangedResource[] };
  for (const field of FIELDS) {
    const old: ReadonlyMap<string, StoredRecord> = from[field];
    const now: ReadonlyMap<string, StoredRecord> = to[field];
    for (const { kind, name } of old.values()) if (!now.has(name)) found.removed.push({ kind, name });
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
