import { realpathSync } from 'node:fs';
import type { Clock, Commit, Log } from '../../core/base/ports.ts';
import { nextInstant } from '../apply-batch.ts';
import { buildFeed } from '../feed.ts';
import type { OpenStore } from '../open.ts';
import { unavailable } from '../unavailable.ts';
import { appendEvent, queryAudit } from './audit.ts';
import { compactVersions } from './compact.ts';
import { asStoreError, type Database, IN_MEMORY, isDamage, openDatabase, RESTORE } from './database.ts';
import { nothingToWatch, watchFiles } from './file-watch.ts';
import { buildGroupCommit } from './group-commit.ts';
import { damaged } from './integrity.ts';
import { acquireLease, releaseLease } from './lease.ts';
import { readCommits, versionBytesBetween } from './log.ts';
import { getRecord, getRecordById, historyOf, listRecords, lookupRecord } from './read.ts';
import { RecordCache } from './record-cache.ts';
import { migrate } from './schema.ts';
import { keepCheckpoint, readTree, type TreeReads } from './tree.ts';
import { upkeepOf } from './upkeep.ts';
import { keptFrom, readVersions } from './versions.ts';
import { advance, commitInForce, ensureWorkspace, findWorkspace, instantOf, isKept } from './workspaces.ts';
import { applyCommit } from './write.ts';

export interface SqliteStoreOptions {
  /** Created with its folder when absent, readable by the owner only; `:memory:` for tests. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The embedded store. One process at a time may open a file for writing. @throws StoreError `unavailable` */
export async function openSqliteStore({ path, clock, log }: SqliteStoreOptions): Promise<OpenStore> {
  const database = openDatabase(path);
  try {
    const copy = await migrate(database);
    if (copy !== undefined) log.info({ path, copy }, 'store migrated to a newer schema; a copy of the old one is kept');
    return storeOn(database, clock, log);
  } catch (error) {
    database.close();
    // SQLite itself does not say which file it is.
    if (isDamage(error)) throw unavailable(`${damaged(path, String(error))}. ${RESTORE}`, error);
    throw asStoreError(error);
  }
}

function storeOn(database: Database, clock: Clock, log: Log): OpenStore {
  const file = database.path === IN_MEMORY ? undefined : realpathSync(database.path);
  const watch = file === undefined ? nothingToWatch : watchFiles(file);
  const groupCommit = buildGroupCommit(database, log, watch);
  const feed = buildFeed(log, (...range) => answer(() => readCommits(database, ...range)));
  const cache = new RecordCache();
  let closed = false;

  const published = (commit: Commit): void => {
    cache.forget(commit);
    if (commit.changes.length > 0) feed.publish(commit);
  };

  return {
    upkeep: upkeepOf(database, file, groupCommit, watch),
    commit: (workspace, ops, context) =>
      groupCommit.enqueue(() => applyCommit(database, workspace, ops, context, clock.now()), published),
    get: (workspace, key, asOf) => answer(() => getRecord(database, workspace, key, asOf)),
    lookup: (unique, workspace) => answer(() => lookupRecord(database, unique, workspace)),
    getById: (workspace, kind, uid) =>
      answer(() => cache.get(workspace, kind, uid, () => getRecordById(database, workspace, kind, uid))),
    list: (workspace, kind, query = {}) => answer(() => listRecords(database, workspace, kind, query)),
    history: (workspace, key) => answer(() => historyOf(database, workspace, key)),
    versions: (workspace, kind, query) => answer(() => readVersions(database, workspace, kind, query)),
    keptFrom: (workspace) => answer(() => keptFrom(database, workspace)),
    revision: (workspace) => answer(() => findWorkspace(database, workspace)?.revision ?? 0),
    revisionAt: (workspace, at) => answer(() => revisionInForce(database, workspace, at)),
    commits: (workspace, from, limit) => answer(() => readCommits(database, workspace, from, limit)),
    watch: (workspace, from, signal) => feed.watch(workspace, from, signal),
    onCommit: (listener) => feed.onCommit(listener),
    record: (workspace, events) =>
      groupCommit.enqueue(() => {
        const row = ensureWorkspace(database, workspace);
        const at = nextInstant(row, clock.now());
        for (const event of events) appendEvent(database, row, at, event);
        advance(database, row, row.revision, at);
      }),
    audit: (workspace, query) => answer(() => queryAudit(database, workspace, query)),
    auditTree: (workspace) => ({
      ...answering(readTree(database, workspace)),
      keepCheckpoint: (checkpoint) => groupCommit.enqueue(() => keepCheckpoint(database, workspace, checkpoint)),
    }),
    compact: (workspace, upTo, keep) => compactVersions(database, groupCommit, workspace, upTo, keep, clock.now),
    workspaces: () => answer(() => workspaceNames(database)),
    sizeBetween: (workspace, after, upTo) => answer(() => versionBytesBetween(database, workspace, after, upTo)),
    acquire: (name, holder, ttlMs) =>
      groupCommit.enqueue(() => acquireLease(database, name, holder, ttlMs, clock.now())),
    release: (name, holder) => groupCommit.enqueue(() => releaseLease(database, name, holder)),
    async close() {
      if (closed) return;
      closed = true;
      groupCommit.close();
      feed.close();
      database.close();
    },
  };
}

/** The same reads, with StoreError for what SQLite throws. */
export function answering({ size, hashes, entries, checkpoints }: TreeReads): TreeReads {
  return {
    size: () => answer(size),
    hashes: (ids) => answer(() => hashes(ids)),
    entries: (from, limit) => answer(() => entries(from, limit)),
    checkpoints: (limit) => answer(() => checkpoints(limit)),
  };
}

/** What a query answers. @throws StoreError */
export async function answer<T>(query: () => T | Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    throw asStoreError(error);
  }
}

export function revisionInForce(
  database: Database,
  name: string,
  at: number,
): { revision: number; from: number; to?: number } | undefined {
  const workspace = findWorkspace(database, name);
  const commit = workspace && commitInForce(database, workspace, at);
  if (!commit || !isKept(workspace, commit.revision)) return undefined;
  const to = instantOf(database, workspace, commit.revision + 1);
  return { revision: commit.revision, from: commit.at, ...(to !== undefined && { to }) };
}

export function workspaceNames(database: Database): string[] {
  return database
    .statement<{ name: string }>('SELECT name FROM workspace WHERE revision > 0 ORDER BY name')
    .all()
    .map(({ name }) => name);
}
