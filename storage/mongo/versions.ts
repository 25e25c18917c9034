import type { ClientSession, Filter } from 'mongodb';
import type { RecordVersion, VersionQuery } from '../../core/base/ports.ts';
import { StoreError } from '../../core/base/ports.ts';
import { KINDS, type Kind, type RecordKey } from '../../core/base/record.ts';
import type { Collections, Connection } from './connect.ts';
import { keyOf, namesAfter, type RecordDoc, recordId, type VersionDoc, versionId } from './documents.ts';
import { commitEntries } from './log.ts';
import { decodeLive, decodeVersion } from './read.ts';
import { findWorkspace } from './workspaces.ts';

/** @throws StoreError `compacted` */
export function readVersions<K extends Kind>(
  connection: Connection,
  ws: string,
  kind: K,
  query: VersionQuery,
): Promise<RecordVersion<K>[]> {
  return connection.snapshot(async (session, collections) => {
    if (!KINDS[kind].history) throw new StoreError('compacted', `${kind} keeps no history`);
    const workspace = await findWorkspace(collections, ws, session);
    if (!workspace) return [];
    if (query.after < workspace.compacted) {
      throw new StoreError('compacted', `${ws} after revision ${query.after}; kept from ${workspace.compacted}`);
    }
    const superseded = await collections.versions.find(supersededIn(ws, kind, query), { session }).toArray();
    const records = await collections.records.find(recordsOf(ws, kind, query), { session }).toArray();
    return versionsOf<K>(records, superseded, query).sort((a, b) => a.revision - b.revision);
  });
}

function supersededIn(ws: string, kind: Kind, { after, upTo, name }: VersionQuery): Filter<VersionDoc> {
  const span = { until: { $gt: after }, '_id.revision': { $lte: upTo } };
  if (name === undefined) return { '_id.ws': ws, '_id.kind': kind, ...span };
  const id = recordId(ws, { kind, name });
  return { _id: { $gte: versionId(id, 0), $lte: versionId(id, upTo) }, until: span.until };
}

function recordsOf(ws: string, kind: Kind, { name }: VersionQuery): Filter<RecordDoc> {
  if (name !== undefined) return { _id: recordId(ws, { kind, name }) };
  return namesAfter(ws, kind);
}

/** A deletion is where a version ended and none began. */
function* written<K extends Kind>(
  records: readonly RecordDoc[],
  superseded: readonly VersionDoc[],
): Generator<RecordVersion<K>> {
  const begins = new Set<string>();
  for (const version of superseded) {
    const { name } = decodeVersion(version);
    begins.add(`${keyOf(version._id)}@${version._id.revision}`);
    yield { name, revision: version._id.revision, at: version.at, record: decodeVersion<K>(version) };
  }
  for (const document of records) {
    const record = decodeLive<K>(document);
    if (!record) continue;
    begins.add(`${keyOf(document._id)}@${document.revision}`);
    yield { name: record.name, revision: document.revision, at: document.at, record };
  }
  for (const version of superseded) {
    const { name } = decodeVersion(version);
    if (!begins.has(`${keyOf(version._id)}@${version.until}`))
      yield { name, revision: version.until, at: version.untilAt };
  }
}

function versionsOf<K extends Kind>(
  records: readonly RecordDoc[],
  superseded: readonly VersionDoc[],
  { after, upTo }: Pick<VersionQuery, 'after' | 'upTo'>,
): RecordVersion<K>[] {
  return [...written<K>(records, superseded)].filter(({ revision }) => revision > after && revision <= upTo);
}

/** Every kept version of a record, oldest first. */
export function historyOf<K extends Kind>(connection: Connection, ws: string, key: RecordKey<K>) {
  return connection.snapshot(async (session, collections) => {
    const id = recordId(ws, key);
    const superseded = KINDS[key.kind].history
      ? await collections.versions
          .find({ _id: { $gte: versionId(id, 0), $lt: versionId(id, Infinity) } }, { session })
          .toArray()
      : [];
    const records = await collections.records.find({ _id: id }, { session }).toArray();
    const all = versionsOf<K>(records, superseded, { after: 0, upTo: Infinity });
    const entries: Omit<RecordVersion<K>, 'name'>[] = [];
    for (const { name: _, ...entry } of all) {
      if (entry.record || (await wasDeleted(collections, ws, key, entry.revision, session))) entries.push(entry);
    }
    return entries.sort((a, b) => a.revision - b.revision);
  });
}

/** The version that follows may have been compacted away: the log tells it from a deletion. */
async function wasDeleted(
  connection: Collections,
  ws: string,
  key: RecordKey,
  revision: number,
  session: ClientSession,
): Promise<boolean> {
  const [commit] = await commitEntries(connection, ws, { after: revision - 1, upTo: revision, limit: 1 }, session);
  return commit?.changes.findLast((change) => keyOf(change) === keyOf(key))?.type === 'deleted';
}
