import { realpathSync } from 'node:fs';
import type { Clock, Commit, Log } from '../../core/base/ports.ts';
import { WriteQueue } from '../../core/base/write-queue.ts';
import { nextInstant } from '../apply-batch.ts';
import type { OpenStore } from '../engine.ts';
import { buildFeed } from '../feed.ts';
import { unavailable } from '../unavailable.ts';
import { appendEvent } from './audit.ts';
import { compactVersions } from './compact.ts';
import { asStoreError, DamageError, type Database, IN_MEMORY, isDamage, openDatabase } from './database.ts';
import { nothingToWatch, watchFiles } from './file-watch.ts';
import { buildGroupCommit } from './group-commit.ts';
import { damaged } from './integrity.ts';
import { acquireLease, leaseStates, releaseLease, renewLeases } from './lease.ts';
import { requireInUse } from './move-note.ts';
import { getRecordById } from './read.ts';
import { answer, readsOn } from './reader.ts';
import { RecordCache } from './record-cache.ts';
import { migrate } from './schema.ts';
import { keepCheckpoint } from './tree.ts';
import { upkeepOf } from './upkeep.ts';
import { advance, ensureWorkspace } from './workspaces.ts';
import { applyCommit } from './write.ts';

export interface SqliteStoreOptions {
  /** Created with its folder when absent, readable by the owner only; `:memory:` for tests. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Bytes that are kept free on its disk. */
  readonly reserve?: number;
}

/** The embedded store. One process at a time may open a file for writing. @throws StoreError `unavailable` */
export async function openSqliteStore({ path, clock, log, reserve }: SqliteStoreOptions): Promise<OpenStore> {
  const database = openDatabase(path, reserve);
  try {
    requireInUse(database);
    const copy = await migrate(database);
    if (copy !== undefined) log.info({ path, copy }, 'store migrated to a newer schema; a copy of the old one is kept');
    return storeOn(database, clock, log);
  } catch (error) {
    database.close();
    // SQLite itself does not say which file it is.
    if (isDamage(error))
      throw error instanceof DamageError ? error : new DamageError(damaged(path, String(error)), error);
    throw asStoreError(error);
  }
}

function storeOn(database: Database, clock: Clock, log: Log): OpenStore {
  const file = database.path === IN_MEMORY ? undefined : realpathSync(database.path);
  const watch = file === undefined ? nothingToWatch : watchFiles(file);
  const groupCommit = buildGroupCommit(database, log, watch);
  const reads = readsOn(database);
  const feed = buildFeed(log, reads.commits);
  const cache = new RecordCache();
  let closed = false;

  const published = (commit: Commit): void => {
    cache.forget(commit);
    if (commit.changes.length > 0) feed.publish(commit);
  };

  return {
    ...reads,
    queue: new WriteQueue(),
    upkeep: upkeepOf(database, file, groupCommit, watch),
    commit: (workspace, ops, context) =>
      groupCommit.enqueue(() => applyCommit(database, workspace, ops, context, clock.now()), published),
    getById: (workspace, kind, uid) =>
      answer(() => cache.get(workspace, kind, uid, () => getRecordById(database, workspace, kind, uid))),
    watch: (workspace, from, signal) => feed.watch(workspace, from, signal),
    onCommit: (listener) => feed.onCommit(listener),
    // Nobody else writes, and listeners hear of a commit before its writer does.
    async caughtUp() {
      if (closed) throw unavailable('the store is closed');
    },
    damaged: () => [],
    record: (workspace, events) =>
      groupCommit.enqueue(() => {
        const row = ensureWorkspace(database, workspace);
        const at = nextInstant(row, clock.now());
        for (const event of events) appendEvent(database, row, at, event);
        advance(database, row, row.revision, at);
      }),
    auditTree: (workspace) => ({
      ...reads.auditTree(workspace),
      keepCheckpoint: (checkpoint) => groupCommit.enqueue(() => keepCheckpoint(database, workspace, checkpoint)),
    }),
    compact: (workspace, upTo, keep, fence) =>
      compactVersions(database, groupCommit, { workspace, upTo, keep, fence }, clock.now),
    acquire: (name, holder, ttlMs) =>
      groupCommit.enqueue(() => acquireLease(database, name, holder, ttlMs, clock.now())),
    renew: (held, holder, ttlMs) => groupCommit.enqueue(() => renewLeases(database, held, holder, clock.now() + ttlMs)),
    release: (name, holder) => groupCommit.enqueue(() => releaseLease(database, name, holder)),
    leases: (prefix) => answer(() => leaseStates(database, prefix, clock.now())),
    async close() {
      if (closed) return;
      closed = true;
      groupCommit.close();
      feed.close();
      database.close();
    },
  };
}
