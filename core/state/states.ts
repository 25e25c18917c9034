import { LRUCache } from 'lru-cache';
import { MeshError } from '../base/errors.ts';
import type { AsOf, Commit, Store } from '../base/ports.ts';
import type { StoredRecord } from '../base/record.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { buildCompiler } from './compiled.ts';
import { isStateKind, type NetworkState, nextState, STATE_KINDS, stateOf, trackedState } from './state.ts';
import { addedBytes, recordsBeside, stateBytes } from './state-bytes.ts';

/** Access to network states and the compiled engine over them; one implementation, shared by every operation. */
export interface NetworkStates {
  /** The newest state. Kept in memory and moved on by commits, so it costs a map look-up. */
  current(workspace: string): Promise<NetworkState>;
  /** The state in force at a revision or instant. @throws MeshError `not_found` before history begins. */
  asOf(workspace: string, asOf: AsOf): Promise<NetworkState>;
  /** The engine over a state at an instant (expiries count from it); cached by state and the expiries passed. */
  reachability(state: NetworkState, now: number): Reachability;
}

/** Bytes that may be held of each: the rest is read from the store again when it is asked for. */
export interface StateBytes {
  readonly current: number;
  readonly past: number;
}
/** Some forty networks of 5,000 peers are in memory at a time, and thousands of small ones. */
const STATE_BYTES: StateBytes = { current: 500_000_000, past: 40_000_000 };
/** A past state that nobody has asked for is let go after so long, by the time of commits. */
const PAST_UNUSED_MS = 600_000;
/** Commits read at once when a state catches up. */
const CATCH_UP = 500;

interface Current {
  state: NetworkState | undefined;
  /** The first revision from which on the state has stayed as it is: other kinds of records make revisions too. */
  steadySince: number;
  /** The newest revision that was heard of. */
  newest: number;
  moving: Promise<NetworkState> | undefined;
  /** Bytes that the state occupies. */
  bytes: number;
}

interface Past {
  readonly state: Promise<NetworkState>;
  usedAt: number;
}

/** Keeps the states of the present, and past ones for as long as they are asked for. */
export function buildNetworkStates(
  { store }: { readonly store: Store },
  most: StateBytes = STATE_BYTES,
): NetworkStates {
  const currents = new LRUCache<string, Current>({ maxSize: most.current });
  const pasts = new LRUCache<string, Past>({ maxSize: most.past });
  let heardAt = 0;

  store.onCommit((commit) => {
    heardAt = Math.max(heardAt, commit.at);
    letGoUnused();
    const entry = currents.peek(commit.workspace);
    if (!entry) return;
    entry.newest = Math.max(entry.newest, commit.revision);
    if (moveOn(entry, commit)) keep(currents, commit.workspace, entry, entry.bytes);
  });

  async function current(workspace: string): Promise<NetworkState> {
    const entry = currents.get(workspace) ?? emptyEntry();
    if (entry.state && entry.state.revision >= entry.newest) return entry.state;
    if (!currents.has(workspace)) keep(currents, workspace, entry, 1);
    entry.moving ??= catchUp(store, workspace, entry).finally(() => {
      entry.moving = undefined;
      if (currents.peek(workspace) === entry) keep(currents, workspace, entry, entry.bytes);
    });
    return entry.moving;
  }

  async function asOf(workspace: string, point: AsOf): Promise<NetworkState> {
    const newest = await current(workspace);
    // Now, and not after another wait: the entry may be gone by then.
    const steadySince = currents.peek(workspace)?.steadySince ?? newest.revision;
    const revision = 'revision' in point ? point.revision : (await store.revisionAt(workspace, point.at))?.revision;
    if (revision === undefined) {
      throw new MeshError('not_found', 'That is before the history of the workspace begins.');
    }
    if (revision === newest.revision) return newest;
    if (steadySince <= revision && revision < newest.revision) return { ...newest, revision };
    if (!Number.isSafeInteger(revision) || revision < 0 || revision > newest.revision) {
      throw new MeshError('not_found', `There is no revision ${revision}: the newest is ${newest.revision}.`);
    }
    const key = `${workspace}@${revision}`;
    const known = pasts.get(key);
    if (known) {
      known.usedAt = heardAt;
      return known.state;
    }
    const past = { state: loadState(store, workspace, revision, newest), usedAt: heardAt };
    keep(pasts, key, past, 1);
    try {
      const state = await past.state;
      keep(pasts, key, past, stateBytes(state, newest));
      return state;
    } catch (error) {
      pasts.delete(key);
      throw error;
    }
  }

  /** Evicts unused past states, the least recently used first. */
  function letGoUnused(): void {
    const isUnused = (key: string) => heardAt - (pasts.peek(key)?.usedAt ?? heardAt) >= PAST_UNUSED_MS;
    const oldest = () => pasts.rkeys().next().value ?? undefined;
    for (let key = oldest(); key !== undefined && isUnused(key); key = oldest()) pasts.delete(key);
  }

  return { current, asOf, reachability: buildCompiler() };
}

function emptyEntry(): Current {
  return { state: undefined, steadySince: Number.POSITIVE_INFINITY, newest: 0, moving: undefined, bytes: 0 };
}

/** The size of a value that stays the same is not looked at again, so it is set anew; one larger than all may be stays alone. */
function keep<V extends object>(cache: LRUCache<string, V>, key: string, value: V, bytes: number): void {
  cache.delete(key);
  cache.set(key, value, { size: Math.max(1, Math.min(cache.maxSize, bytes)) });
}

async function catchUp(store: Store, workspace: string, entry: Current): Promise<NetworkState> {
  for (;;) {
    const state = entry.state ?? (await loadState(store, workspace, await store.revision(workspace)));
    if (!entry.state) {
      entry.steadySince = state.revision;
      entry.bytes = stateBytes(state);
    }
    entry.state = trackedState(state);
    if (state.revision >= entry.newest) return entry.state;
    const missed = await store.commits(workspace, state.revision, CATCH_UP);
    // The log tells of kinds with history alone.
    if (missed.length > 0 && entry.state === state) entry.state = await withQuarantine(store, state);
    for (const commit of missed) moveOn(entry, commit);
    // A gap that commits cannot fill: read everything again.
    if (entry.state.revision === state.revision) entry.state = undefined;
  }
}

/** @returns whether the commit follows the state */
function moveOn(entry: Current, commit: Commit): boolean {
  const { state } = entry;
  if (!state || commit.revision !== state.revision + 1) return false;
  entry.state = nextState(state, commit);
  entry.bytes += addedBytes(commit.changes);
  if (commit.changes.some(({ record }) => isStateKind(record.kind))) entry.steadySince = commit.revision;
  return true;
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
  shareRecords(state, newest);
  return state;
}

/** Read as it is now, which may be ahead of the state: a commit between the two is applied again and changes nothing. */
async function withQuarantine(store: Store, state: NetworkState): Promise<NetworkState> {
  const { items } = await store.list(state.workspace, 'AddressRest');
  const inOrder = items.toSorted((a, b) => a.spec.until - b.spec.until);
  return trackedState({ ...state, quarantine: new Map(inOrder.map((record) => [record.name, record])) });
}

function shareRecords(state: NetworkState, newest: NetworkState): void {
  for (const { field, name, record, beside } of recordsBeside(state, newest)) {
    const isSame = beside !== undefined && beside.uid === record.uid && beside.revision === record.revision;
    if (isSame) (state[field] as Map<string, StoredRecord>).set(name, beside);
  }
}
