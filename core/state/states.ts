import { LRUCache } from 'lru-cache';
import { MeshError } from '../base/errors.ts';
import type { AsOf, Commit, Store } from '../base/ports.ts';
import type { StoredRecord } from '../base/record.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { buildCompiler } from './compiled.ts';
import { isStateKind, type NetworkState, nextState, STATE_KINDS, stateOf, tracked } from './state.ts';

/** Access to network states and the compiled engine over them; one implementation, shared by every operation. */
export interface NetworkStates {
  /** The newest state. Kept in memory and moved on by commits, so it costs a map look-up. */
  current(workspace: string): Promise<NetworkState>;
  /** The state in force at a revision or instant. @throws MeshError `not_found` before history begins. */
  asOf(workspace: string, asOf: AsOf): Promise<NetworkState>;
  /** The engine over a state at an instant (expiries count from it); cached by state and the expiries passed. */
  reachability(state: NetworkState, now: number): Reachability;
}

/** Bytes that all remembered past states may hold. */
const PAST_BYTES = 40_000_000;
/** Of a record's place in a past state and in the engine that is compiled of it, and of a record that the present has otherwise. */
const PLACE_BYTES = 250;
const RECORD_BYTES = 1_000;
/** Workspaces whose current state stays in memory. */
const CURRENT_WORKSPACES = 1_000;
/** Commits read at once when a state catches up. */
const CATCH_UP = 500;

interface Current {
  state: NetworkState | undefined;
  /** The first revision from which on the state has stayed as it is: other kinds of records make revisions too. */
  steadySince: number;
  /** The newest revision that was heard of. */
  newest: number;
  moving: Promise<NetworkState> | undefined;
}

/** Keeps the current state of each workspace and a few past ones. */
export function buildNetworkStates(
  { store }: { readonly store: Store },
  pastBytes: number = PAST_BYTES,
): NetworkStates {
  const currents = new LRUCache<string, Current>({ max: CURRENT_WORKSPACES });
  const pasts = new LRUCache<string, Promise<NetworkState>>({ maxSize: pastBytes });

  store.onCommit((commit) => {
    const entry = currents.peek(commit.workspace);
    if (!entry) return;
    entry.newest = Math.max(entry.newest, commit.revision);
    moveOn(entry, commit);
  });

  async function current(workspace: string): Promise<NetworkState> {
    const entry = currents.get(workspace) ?? { state: undefined, steadySince: 0, newest: 0, moving: undefined };
    currents.set(workspace, entry);
    if (entry.state && entry.state.revision >= entry.newest) return entry.state;
    entry.moving ??= catchUp(store, workspace, entry).finally(() => {
      entry.moving = undefined;
    });
    return entry.moving;
  }

  async function asOf(workspace: string, point: AsOf): Promise<NetworkState> {
    const newest = await current(workspace);
    const revision = 'revision' in point ? point.revision : (await store.revisionAt(workspace, point.at))?.revision;
    if (revision === undefined) {
      throw new MeshError('not_found', 'That is before the history of the workspace begins.');
    }
    if (revision === newest.revision) return newest;
    const steadySince = currents.peek(workspace)?.steadySince ?? newest.revision;
    if (steadySince <= revision && revision < newest.revision) return { ...newest, revision };
    if (!Number.isSafeInteger(revision) || revision < 0 || revision > newest.revision) {
      throw new MeshError('not_found', `There is no revision ${revision}: the newest is ${newest.revision}.`);
    }
    const key = `${workspace}@${revision}`;
    const known = pasts.get(key);
    if (known) return known;
    const past = loadState(store, workspace, revision, newest);
    pasts.set(key, past, { size: 1 });
    try {
      const state = await past;
      // The size of a value that stays the same is not looked at again, so it is set anew; one larger than all may be stays alone.
      pasts.delete(key);
      pasts.set(key, past, { size: Math.min(pastBytes, bytesOf(state, newest)) });
      return state;
    } catch (error) {
      pasts.delete(key);
      throw error;
    }
  }

  return { current, asOf, reachability: buildCompiler() };
}

async function catchUp(store: Store, workspace: string, entry: Current): Promise<NetworkState> {
  for (;;) {
    const state = entry.state ?? (await loadState(store, workspace, await store.revision(workspace)));
    if (!entry.state) entry.steadySince = state.revision;
    entry.state = tracked(state);
    if (state.revision >= entry.newest) return entry.state;
    const missed = await store.commits(workspace, state.revision, CATCH_UP);
    // The log tells of kinds with history alone.
    if (missed.length > 0 && entry.state === state) entry.state = await withQuarantine(store, state);
    for (const commit of missed) moveOn(entry, commit);
    // A gap that commits cannot fill: read everything again.
    if (entry.state.revision === state.revision) entry.state = undefined;
  }
}

function moveOn(entry: Current, commit: Commit): void {
  const { state } = entry;
  if (!state || commit.revision !== state.revision + 1) return;
  entry.state = nextState(state, commit);
  if (commit.changes.some(({ record }) => isStateKind(record.kind))) entry.steadySince = commit.revision;
}

/** Records that are the same in `newest` are shared with it, so that a past state costs only what differed. */
async function loadState(
  store: Store,
  workspace: string,
  revision: number,
  newest?: NetworkState,
): Promise<NetworkState> {
  if (revision === 0) return stateOf(workspace, 0, []);
  const pages = await Promise.all(STATE_KINDS.map((kind) => store.list(workspace, kind, { asOf: { revision } })));
  const state = stateOf(
    workspace,
    revision,
    pages.flatMap(({ items }) => items),
  );
  if (!newest) return withQuarantine(store, state);
  for (const [field, own] of mapsOf(state)) shareRecords(own, newest[field]);
  return state;
}

/** Read as it is now, which may be ahead of the state: a commit between the two is applied again and changes nothing. */
async function withQuarantine(store: Store, state: NetworkState): Promise<NetworkState> {
  const { items } = await store.list(state.workspace, 'AddressRest');
  const inOrder = items.toSorted((a, b) => a.spec.until - b.spec.until);
  return tracked({ ...state, quarantine: new Map(inOrder.map((record) => [record.name, record])) });
}

const FIELDS = ['peers', 'policies', 'networks', 'agents', 'presence'] as const;

function mapsOf(state: NetworkState): [(typeof FIELDS)[number], Map<string, StoredRecord>][] {
  return FIELDS.map((field) => [field, state[field] as Map<string, StoredRecord>]);
}

function shareRecords(records: Map<string, StoredRecord>, newest: ReadonlyMap<string, StoredRecord>): void {
  for (const [name, record] of records) {
    const same = newest.get(name);
    if (same && same.uid === record.uid && same.revision === record.revision) records.set(name, same);
  }
}

/** What a past state holds, with the maps of its own that share their records with the present. */
function bytesOf(state: NetworkState, newest: NetworkState): number {
  let bytes = PLACE_BYTES;
  for (const [field, records] of mapsOf(state)) {
    bytes += records.size * PLACE_BYTES;
    for (const [name, record] of records) if (newest[field].get(name) !== record) bytes += RECORD_BYTES;
  }
  return bytes;
}
