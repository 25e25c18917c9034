import type { Change, Commit, Store } from '../core/base/ports.ts';
import { parseInstant } from '../core/base/time.ts';
import type { PeerRecord } from '../core/model/resources.ts';
import type { Services } from '../core/workflow/services.ts';

export type KeyChanges = Pick<Commit, 'workspace' | 'at' | 'changes'>;

/** Longest life of what a node is given to show elsewhere by its key: who left longer ago has nothing that still holds. */
export const CREDENTIAL_LIFE_MS = 24 * 3_600_000;
const PAGE = 500;

/** Gives `take` the changes of peers' keys, in order: first those of a day before this start, then all commits as they happen. */
export async function followKeyChanges(
  services: Pick<Services, 'store' | 'clock' | 'log'>,
  take: (changes: KeyChanges) => void,
): Promise<{ stop(): void }> {
  let early: Commit[] | undefined = [];
  const stop = services.store.onCommit((commit) => {
    if (early) early.push(commit);
    else take(commit);
  });
  for (const workspace of await services.store.workspaces()) {
    for (const commit of await keyChangesOfDay(services, workspace)) take(commit);
  }
  early.forEach(take);
  early = undefined;
  return { stop };
}

/**
 * Returns the key changes of the last day. Its cost depends on the entries of the log, and on the peers that came, went or
 * changed their key in that day: most changes are of something else.
 */
async function keyChangesOfDay(
  { store, clock, log }: Pick<Services, 'store' | 'clock' | 'log'>,
  workspace: string,
): Promise<KeyChanges[]> {
  const dayAgo = clock.now() - CREDENTIAL_LIFE_MS;
  const kept = await store.keptFrom(workspace);
  const since = kept !== undefined && kept.revision > 1 ? Math.max(kept.at, dayAgo) : dayAgo;
  if (since > dayAgo) {
    log.warn({ workspace }, 'the history of a day is gone: keys revoked in it are taken until they run out');
  }
  const changes = new Map<string, readonly DatedChange[]>();
  const read = async (name: string) => {
    if (!changes.has(name)) changes.set(name, await changesOf(store, workspace, name, since));
  };
  for (const [name, isGone] of await writtenSince(store, workspace, since)) {
    if (isGone || (await hasAnotherKey(store, workspace, name, since))) await read(name);
  }
  // Whoever has now what another one lost got it in that day, or never lost it.
  for (const { change } of [...changes.values()].flat()) {
    for (const { spec } of [change.record, change.before].filter((record) => record !== undefined)) {
      const holder = await store.lookup(`pubkey:${spec.publicKey}`, workspace);
      if (holder !== undefined) await read(holder.name);
    }
  }
  /** A peer that is renamed is deleted and made again in one revision. */
  const commits = Map.groupBy([...changes.values()].flat(), ({ revision }) => revision);
  return [...commits]
    .sort(([a], [b]) => a - b)
    .map(([, dated]) => ({ workspace, at: dated[0]?.at ?? since, changes: dated.map(({ change }) => change) }));
}

interface DatedChange {
  readonly revision: number;
  readonly at: number;
  readonly change: Change<'MeshPeer'>;
}

async function changesOf(store: Store, workspace: string, name: string, since: number): Promise<DatedChange[]> {
  const found: DatedChange[] = [];
  let before: PeerRecord | undefined;
  for (const { revision, at, record } of await store.history(workspace, { kind: 'MeshPeer', name })) {
    const change = changeTo(record, before);
    before = record;
    if (change !== undefined && at >= since) found.push({ revision, at, change });
  }
  return found;
}

function changeTo(record: PeerRecord | undefined, before: PeerRecord | undefined): DatedChange['change'] | undefined {
  if (record === undefined) return before && { type: 'deleted', record: before, before };
  return before === undefined ? { type: 'created', record } : { type: 'updated', record, before };
}

/** True if the peer is revoked, or had another key before. 0.1.0 did not note when a device took its key. */
async function hasAnotherKey(store: Store, workspace: string, name: string, since: number): Promise<boolean> {
  const key = { kind: 'MeshPeer', name } as const;
  const now = await store.get(workspace, key);
  if (now === undefined || now.status.phase === 'revoked') return true;
  const { keySince } = now.status;
  if (keySince !== undefined) return parseInstant(keySince) >= since;
  const then = now.createdAt < since ? await store.get(workspace, key, { at: since }) : now;
  return then?.spec.publicKey !== now.spec.publicKey;
}

/** Names of peers that a commit since an instant wrote, and whether one deleted them. */
async function writtenSince(store: Store, workspace: string, since: number): Promise<Map<string, boolean>> {
  const names = new Map<string, boolean>();
  const query = { type: 'commit', kind: 'MeshPeer', from: since, limit: PAGE } as const;
  for (let page = await store.audit(workspace, query); ; ) {
    for (const { type, kind, name } of page.flatMap(({ commit }) => commit?.changes ?? [])) {
      if (kind === 'MeshPeer') names.set(name, type === 'deleted' || names.get(name) === true);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return names;
    page = await store.audit(workspace, { ...query, before: last.seq });
  }
}
