import type { Commit, Log, Store } from '../../core/base/ports.ts';
import { buildFeed } from '../feed.ts';
import { queryAudit } from './audit.ts';
import { openForReading } from './database.ts';
import { readCommits, versionBytesBetween } from './log.ts';
import { getRecord, getRecordById, historyOf, listRecords, lookupRecord } from './read.ts';
import { answer, answering, revisionInForce, workspaceNames } from './store.ts';
import { readTree } from './tree.ts';
import { keptFrom, readVersions } from './versions.ts';
import { findWorkspace } from './workspaces.ts';

/** A second way to the file of a store that is open elsewhere in this process: reads on its own, writes there. */
export interface SqliteReader extends Store {
  /** Tells the listeners of `onCommit` of what was committed to a workspace since the last time. */
  refresh(workspace: string): Promise<void>;
}

export interface SqliteReaderOptions {
  readonly path: string;
  readonly log: Log;
  /** The writes of the store that has the file open. */
  readonly writes: Pick<Store, 'commit' | 'record'>;
}

/** Commits read at once. */
const PAGE = 500;

/** @throws StoreError `unavailable` */
export function openSqliteReader({ path, log, writes }: SqliteReaderOptions): SqliteReader {
  const database = openForReading(path);
  const commits = (workspace: string, from: number, limit: number) =>
    answer(() => readCommits(database, workspace, from, limit));
  const feed = buildFeed(log, commits);
  const seen = new Map<string, number>();

  async function refresh(workspace: string): Promise<void> {
    const newest = await answer(() => findWorkspace(database, workspace)?.revision ?? 0);
    let last = seen.get(workspace) ?? newest;
    while (last < newest) {
      const page: readonly Commit[] = await commits(workspace, last, PAGE);
      for (const commit of page) feed.publish(commit);
      last = page.at(-1)?.revision ?? newest;
    }
    seen.set(workspace, last);
  }

  const elsewhere = () => Promise.reject(new TypeError('A computing thread has no part in this.'));
  return {
    refresh,
    async commit(workspace, ops, context) {
      const commit = await writes.commit(workspace, ops, context);
      await refresh(workspace);
      return commit;
    },
    record: writes.record,
    get: (workspace, key, asOf) => answer(() => getRecord(database, workspace, key, asOf)),
    lookup: (unique, workspace) => answer(() => lookupRecord(database, unique, workspace)),
    getById: (workspace, kind, uid) => answer(() => getRecordById(database, workspace, kind, uid)),
    list: (workspace, kind, query = {}) => answer(() => listRecords(database, workspace, kind, query)),
    history: (workspace, key) => answer(() => historyOf(database, workspace, key)),
    versions: (workspace, kind, query) => answer(() => readVersions(database, workspace, kind, query)),
    keptFrom: (workspace) => answer(() => keptFrom(database, workspace)),
    revision: (workspace) => answer(() => findWorkspace(database, workspace)?.revision ?? 0),
    revisionAt: (workspace, at) => answer(() => revisionInForce(database, workspace, at)),
    commits,
    watch: (workspace, from, signal) => feed.watch(workspace, from, signal),
    onCommit: (listener) => feed.onCommit(listener),
    audit: (workspace, query) => answer(() => queryAudit(database, workspace, query)),
    auditTree: (workspace) => ({ ...answering(readTree(database, workspace)), keepCheckpoint: elsewhere }),
    workspaces: () => answer(() => workspaceNames(database)),
    sizeBetween: (workspace, after, upTo) => answer(() => versionBytesBetween(database, workspace, after, upTo)),
    compact: elsewhere,
    acquire: elsewhere,
    release: elsewhere,
    async close() {
      feed.close();
      database.close();
    },
  };
}
