import { type ReaderOptions, type Reads, readerOn, type StoreReader } from '../reader.ts';
import { queryAudit } from './audit.ts';
import { asStoreError, type Database, openForReading } from './database.ts';
import { readCommits, versionBytesBetween } from './log.ts';
import { getRecord, getRecordById, historyOf, listRecords, lookupRecord } from './read.ts';
import { readTree, type TreeReads } from './tree.ts';
import { keptFrom, readVersions } from './versions.ts';
import { findWorkspace, revisionInForce, workspaceNames } from './workspaces.ts';

/** A second connection to a file, which never writes. @throws StoreError `unavailable` */
export function openSqliteReader({ path, ...options }: ReaderOptions & { readonly path: string }): StoreReader {
  const database = openForReading(path);
  return readerOn(readsOn(database), options, () => database.close());
}

export function readsOn(database: Database): Reads {
  return {
    get: (workspace, key, asOf) => answer(() => getRecord(database, workspace, key, asOf)),
    lookup: (unique, workspace) => answer(() => lookupRecord(database, unique, workspace)),
    getById: (workspace, kind, uid) => answer(() => getRecordById(database, workspace, kind, uid)),
    list: (workspace, kind, query = {}) => answer(() => listRecords(database, workspace, kind, query)),
    history: (workspace, key) => answer(() => historyOf(database, workspace, key)),
    versions: (workspace, kind, query) => answer(() => readVersions(database, workspace, kind, query)),
    keptFrom: (workspace) => answer(() => keptFrom(database, workspace)),
    revision: (workspace) => answer(() => findWorkspace(database, workspace)?.revision ?? 0),
    revisionAt: (workspace, at) => answer(() => revisionInForce(database, workspace, at)),
    commits: (workspace, from, limit) => answer(() => readCommits(database, workspace, from, limit)),
    audit: (workspace, query) => answer(() => queryAudit(database, workspace, query)),
    auditTree: (workspace) => ({ ...answering(readTree(database, workspace)), keepCheckpoint: readOnly }),
    workspaces: () => answer(() => workspaceNames(database)),
    sizeBetween: (workspace, after, upTo) => answer(() => versionBytesBetween(database, workspace, after, upTo)),
  };
}

const readOnly = () => Promise.reject(new TypeError('What is only read keeps no checkpoint.'));

/** The same reads, with StoreError for what SQLite throws. */
function answering({ size, hashes, entries, checkpoints }: TreeReads): TreeReads {
  return {
    size: () => answer(size),
    hashes: (ids) => answer(() => hashes(ids)),
    entries: (from, limit) => answer(() => entries(from, limit)),
    checkpoints: (limit) => answer(() => checkpoints(limit)),
  };
}

/** Returns the result of a query. @throws StoreError */
export async function answer<T>(query: () => T | Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    throw asStoreError(error);
  }
}
