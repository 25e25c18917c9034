import { type ReaderOptions, type Reads, readerOn, type StoreReader } from '../reader.ts';
import { queryAudit } from './audit.ts';
import { type Connection, connectionTo } from './connect.ts';
import { claimedWith } from './installation.ts';
import { readCommits, versionBytesBetween } from './log.ts';
import { newestHeads } from './newest-heads.ts';
import { getRecord, getRecordById, listRecords, lookupRecord } from './read.ts';
import { treeOf } from './tree.ts';
import { historyOf, readVersions } from './versions.ts';
import { findWorkspace, keptFrom, revisionInForce, workspaceNames } from './workspaces.ts';

/** Connects with the first read, to servers that were looked at when the store was opened. */
export function openMongoReader({ url, ...options }: ReaderOptions & { readonly url: string }): StoreReader {
  const connection = connectionTo(url);
  const newest = newestHeads(connection);
  const newestOf = async (workspace: string) => (await newest([workspace])).get(workspace) ?? 0;
  const reader = readerOn(readsOn(connection), options, connection.close, newestOf);
  return { ...reader, claimedWith: () => claimedWith(connection) };
}

export function readsOn(connection: Connection): Reads {
  return {
    get: (workspace, key, asOf) => getRecord(connection, workspace, key, asOf),
    lookup: (unique, workspace) => lookupRecord(connection, unique, workspace),
    getById: (workspace, kind, uid) => getRecordById(connection, workspace, kind, uid),
    list: (workspace, kind, query = {}) => listRecords(connection, workspace, kind, query),
    history: (workspace, key) => historyOf(connection, workspace, key),
    versions: (workspace, kind, query) => readVersions(connection, workspace, kind, query),
    keptFrom: (workspace) => keptFrom(connection, workspace),
    revision: (workspace) =>
      connection.run(async (session) => (await findWorkspace(connection, workspace, session))?.revision ?? 0),
    revisionAt: (workspace, at) => revisionInForce(connection, workspace, at),
    commits: (workspace, from, limit) => readCommits(connection, workspace, from, limit),
    audit: (workspace, query) => queryAudit(connection, workspace, query),
    auditTree: (workspace) => treeOf(connection, workspace),
    workspaces: () => workspaceNames(connection),
    sizeBetween: (workspace, after, upTo) => versionBytesBetween(connection, workspace, after, upTo),
  };
}
