import type { ClientSession, Filter } from 'mongodb';
import type { AsOf, ListPage, ListQuery } from '../../core/base/ports.ts';
import { StoreError } from '../../core/base/ports.ts';
import { foldName, KINDS, type Kind, type RecordKey, type StoredRecord } from '../../core/base/record.ts';
import { decodeBody } from '../body.ts';
import type { Collections, Connection } from './connect.ts';
import {
  bytesOf,
  namesAfter,
  type RecordDoc,
  recordId,
  type VersionDoc,
  versionId,
  type WorkspaceDoc,
} from './documents.ts';
import { findWorkspace, requireKept, resolveAsOf, revisionBefore } from './workspaces.ts';

/** Records that the server sends at once. */
const BATCH = 1_000;

export function getRecord<K extends Kind>(
  connection: Connection,
  ws: string,
  key: RecordKey<K>,
  asOf: AsOf | undefined,
): Promise<StoredRecord<K> | undefined> {
  if (asOf === undefined) {
    return connection.run(async (session) => {
      const found = await connection.records.findOne({ _id: recordId(ws, key) }, { session });
      return found ? decodeLive(found) : undefined;
    });
  }
  return connection.snapshot(async (session, collections) => {
    requireHistory(key.kind);
    const revision = 'revision' in asOf ? asOf.revision : await revisionBefore(collections, ws, asOf.at, session);
    const found = await findAsOf(collections, recordId(ws, key), revision, session);
    if (!found) return undefined;
    const { live, version } = found;
    requireKept(found, Math.min(revision, found.revision));
    if (!live) return undefined;
    if (live.revision <= revision) return decodeLive<K>(live);
    return version && version.until > revision ? decodeVersion<K>(version) : undefined;
  });
}

/** Returns the live record, the version at a revision, and the state of the workspace, in one query. */
async function findAsOf(
  { workspaces }: Collections,
  id: RecordDoc['_id'],
  revision: number,
  session: ClientSession,
): Promise<(WorkspaceDoc & { readonly live?: RecordDoc; readonly version?: VersionDoc }) | undefined> {
  const range = { _id: { $gte: versionId(id, 0), $lte: versionId(id, revision) } };
  const [found] = await workspaces
    .aggregate<WorkspaceDoc & { readonly live: RecordDoc[]; readonly version: VersionDoc[] }>(
      [
        { $match: { _id: id.ws } },
        { $lookup: { from: 'record', pipeline: [{ $match: { _id: id } }], as: 'live' } },
        {
          $lookup: {
            from: 'version',
            pipeline: [{ $match: range }, { $sort: { _id: -1 } }, { $limit: 1 }],
            as: 'version',
          },
        },
      ],
      { session },
    )
    .toArray();
  if (!found) return undefined;
  const { live, version, ...workspace } = found;
  return { ...workspace, ...(live[0] && { live: live[0] }), ...(version[0] && { version: version[0] }) };
}

export function getRecordById<K extends Kind>(
  connection: Connection,
  ws: string,
  kind: K,
  uid: string,
): Promise<StoredRecord<K> | undefined> {
  return connection.run(async (session) => {
    const found = await connection.records.findOne({ uid, '_id.ws': ws }, { session });
    return found?._id.kind === kind ? decodeLive(found) : undefined;
  });
}

export function lookupRecord(connection: Connection, value: string, ws?: string): Promise<StoredRecord | undefined> {
  return connection.run(async (session) => {
    const filter: Filter<RecordDoc> = { unique: value, ...(ws !== undefined && { '_id.ws': ws }) };
    const found = await connection.records.findOne(filter, { session });
    return found ? decodeLive(found) : undefined;
  });
}

export function listRecords<K extends Kind>(
  connection: Connection,
  ws: string,
  kind: K,
  { after, limit, asOf }: ListQuery,
): Promise<ListPage<K>> {
  return connection.snapshot(async (session, collections) => {
    if (asOf !== undefined) requireHistory(kind);
    const workspace = await findWorkspace(collections, ws, session);
    if (!workspace) return { items: [], revision: 0 };
    const revision = asOf === undefined ? workspace.revision : await resolveAsOf(collections, workspace, asOf, session);
    const past =
      revision < workspace.revision
        ? await supersededAfter(collections, session, { ws, kind, revision, after })
        : new Map<string, VersionDoc>();
    const items: StoredRecord<K>[] = [];
    const records = collections.records.find(namesAfter(ws, kind, after), {
      session,
      sort: { _id: 1 },
      batchSize: limit === undefined ? BATCH : Math.min(BATCH, limit + 1),
    });
    for await (const record of records) {
      const found = inForce<K>(record, revision, past);
      if (!found) continue;
      if (items.length === limit) return { items, revision, next: items.at(-1)?.name ?? after ?? '' };
      items.push(found);
    }
    return { items, revision };
  });
}

function inForce<K extends Kind>(
  record: RecordDoc,
  revision: number,
  past: ReadonlyMap<string, VersionDoc>,
): StoredRecord<K> | undefined {
  if (record.revision <= revision) return decodeLive<K>(record);
  const version = past.get(record._id.name);
  return version && decodeVersion<K>(version);
}

/** By name, the versions that were in force at a revision and are not any more. */
async function supersededAfter(
  { versions }: Collections,
  session: ClientSession,
  { ws, kind, revision, after = '' }: { ws: string; kind: Kind; revision: number; after: string | undefined },
): Promise<Map<string, VersionDoc>> {
  const found = await versions
    .find(
      {
        '_id.ws': ws,
        '_id.kind': kind,
        until: { $gt: revision },
        '_id.revision': { $lte: revision },
        '_id.name': { $gt: foldName(after) },
      },
      { session, batchSize: BATCH },
    )
    .toArray();
  return new Map(found.map((version) => [version._id.name, version]));
}

function requireHistory(kind: Kind): void {
  if (!KINDS[kind].history) throw new StoreError('compacted', `${kind} keeps no history`);
}

/** Undefined of one that was deleted. */
export function decodeLive<K extends Kind>({ _id, revision, body }: RecordDoc): StoredRecord<K> | undefined {
  return body === undefined ? undefined : decodeBody(_id.ws, _id.kind as K, revision, body);
}

export function decodeVersion<K extends Kind>({ _id, body }: VersionDoc): StoredRecord<K> {
  return decodeBody(_id.ws, _id.kind as K, _id.revision, typeof body === 'string' ? body : bytesOf(body));
}
