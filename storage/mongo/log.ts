import type { ClientSession } from 'mongodb';
import type { AuditEntry, Change, Commit } from '../../core/base/ports.ts';
import { StoreError } from '../../core/base/ports.ts';
import { KINDS, type StoredRecord } from '../../core/base/record.ts';
import { packBody, parseStored } from '../body.ts';
import type { Collections, Connection } from './connect.ts';
import { bytesOf, keyOf, type RecordDoc, recordId, type VersionDoc, versionId } from './documents.ts';
import { decodeLive, decodeVersion } from './read.ts';
import { findWorkspace } from './workspaces.ts';

type CommitEntry = NonNullable<AuditEntry['commit']>;

/** Commits read at once. */
const PAGE = 100;
/** Beside its body a version takes so much, as in the other store. */
const VERSION_BYTES = 24;

/** @throws StoreError `compacted` */
export async function readCommits(connection: Connection, ws: string, from: number, limit: number): Promise<Commit[]> {
  const commits: Commit[] = [];
  for (;;) {
    const wanted = Math.min(PAGE, limit - commits.length);
    const page = await readPage(connection, ws, commits.at(-1)?.revision ?? from, wanted, false);
    commits.push(...page);
    if (page.length < PAGE || commits.length >= limit) return commits;
  }
}

/**
 * As `commits` of the port, and with the changes of kinds without history, which are there for an hour.
 *
 * @throws StoreError `compacted`
 */
export function readNews(connection: Connection, ws: string, from: number): Promise<Commit[]> {
  return readPage(connection, ws, from, PAGE, true);
}

function readPage(
  connection: Connection,
  ws: string,
  after: number,
  limit: number,
  isNews: boolean,
): Promise<Commit[]> {
  return connection.snapshot(async (session, collections) => {
    const workspace = await findWorkspace(collections, ws, session);
    if (!workspace || limit <= 0) return [];
    if (after < workspace.compacted) {
      throw new StoreError('compacted', `${ws} after revision ${after}; kept from ${workspace.compacted}`);
    }
    const entries = await commitEntries(collections, ws, { after, upTo: workspace.revision, limit }, session);
    const told = entries.map((entry) => ({
      ...entry,
      changes: entry.changes.filter(({ kind }) => isNews || KINDS[kind].history),
    }));
    const { written, superseded } = await bodiesOf(collections, ws, told, session);
    return told.map(({ changes, ...entry }) => {
      const read = changes.map((change) => {
        const key = keyOf(change);
        return changeOf(
          change.type,
          written.get(`${key}@${entry.revision}`),
          superseded.get(`${key}@${entry.revision}`),
        );
      });
      const lacking = changes.find((_, n) => read[n] === undefined);
      if (lacking) {
        // Versions of kinds with history are never dropped after the compaction mark.
        const code = KINDS[lacking.kind].history ? 'lost' : 'compacted';
        throw new StoreError(code, `${ws} at revision ${entry.revision}`);
      }
      return { ...entry, workspace: ws, changes: read.filter((change) => change !== undefined) };
    });
  });
}

function changeOf(
  type: Change['type'],
  record: StoredRecord | undefined,
  before: StoredRecord | undefined,
): Change | undefined {
  switch (type) {
    case 'created':
      return record && { type, record };
    case 'updated':
      return record && before && { type, record, before };
    case 'deleted':
      return before && { type, record: before, before };
    default:
      throw type satisfies never;
  }
}

interface Span {
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
}

/** Returns the log entries of commits, in order. */
export async function commitEntries(
  { log }: Collections,
  ws: string,
  { after, upTo, limit }: Span,
  session: ClientSession,
): Promise<CommitEntry[]> {
  const entries = await log
    .find(
      { '_id.ws': ws, commit: { $gt: after, $lte: upTo } },
      { session, sort: { commit: 1 }, limit, batchSize: limit + 1, projection: { entry: 1 } },
    )
    .toArray();
  return entries.flatMap(({ entry }) => parseStored<AuditEntry>(entry).commit ?? []);
}

/** By `<key>@<revision>`, what commits wrote, and what they wrote over or deleted. */
async function bodiesOf(
  connection: Collections,
  ws: string,
  entries: readonly CommitEntry[],
  session: ClientSession,
): Promise<{ written: Map<string, StoredRecord>; superseded: Map<string, StoredRecord> }> {
  const { records, versions } = await writtenBy(connection, ws, entries, session);
  const written = new Map<string, StoredRecord>();
  for (const record of records) {
    const live = decodeLive(record);
    if (live) written.set(`${keyOf(record._id)}@${record.revision}`, live);
  }
  for (const version of versions) written.set(`${keyOf(version._id)}@${version._id.revision}`, decodeVersion(version));
  const [first, last] = [entries.at(0)?.revision, entries.at(-1)?.revision];
  const over = entries.flatMap(({ changes }) => changes.filter(({ type }) => type !== 'created'));
  const kinds = [...new Set(over.map(({ kind }) => kind))];
  if (first === undefined || last === undefined || kinds.length === 0) return { written, superseded: new Map() };
  const versionsOver = await connection.versions
    .find({ '_id.ws': ws, '_id.kind': { $in: kinds }, until: { $gte: first, $lte: last } }, { session })
    .toArray();
  const superseded = new Map(versionsOver.map((each) => [`${keyOf(each._id)}@${each.until}`, decodeVersion(each)]));
  return { written, superseded };
}

/** The documents of what commits wrote: live still, or written over since. */
async function writtenBy(
  connection: Collections,
  ws: string,
  entries: readonly CommitEntry[],
  session: ClientSession,
): Promise<{ records: RecordDoc[]; versions: VersionDoc[] }> {
  const ids = entries.flatMap(({ revision, changes }) =>
    changes.filter(({ type }) => type !== 'deleted').map((change) => ({ id: recordId(ws, change), revision })),
  );
  if (ids.length === 0) return { records: [], versions: [] };
  const names = [...new Map(ids.map(({ id }) => [keyOf(id), id])).values()];
  const revisions = new Set(ids.map(({ id, revision }) => `${keyOf(id)}@${revision}`));
  const records = await connection.records.find({ _id: { $in: names } }, { session }).toArray();
  const live = records.filter(
    ({ _id, revision, body }) => body !== undefined && revisions.has(`${keyOf(_id)}@${revision}`),
  );
  const isLive = new Set(live.map(({ _id, revision }) => `${keyOf(_id)}@${revision}`));
  const past = ids.filter(({ id, revision }) => !isLive.has(`${keyOf(id)}@${revision}`));
  const versions =
    past.length === 0
      ? []
      : await connection.versions
          .find({ _id: { $in: past.map(({ id, revision }) => versionId(id, revision)) } }, { session })
          .toArray();
  return { records: live, versions };
}

/** The packed size of the versions that a range of revisions wrote; what compaction has dropped counts nothing. */
export async function versionBytesBetween(
  connection: Connection,
  ws: string,
  after: number,
  upTo: number,
): Promise<number> {
  let bytes = 0;
  for (let cursor = after; ; ) {
    const page = await connection.snapshot(async (session, collections) => {
      const entries = await commitEntries(collections, ws, { after: cursor, upTo, limit: PAGE }, session);
      const kept = entries.map((entry) => ({
        ...entry,
        changes: entry.changes.filter(({ kind }) => KINDS[kind].history),
      }));
      const { records, versions } = await writtenBy(collections, ws, kept, session);
      const bodies = [...records.map(({ body = '' }) => body), ...versions.map(({ body }) => body)];
      return { entries, bodies };
    });
    for (const body of page.bodies) {
      bytes += packBody(typeof body === 'string' ? body : bytesOf(body)).length + VERSION_BYTES;
    }
    if (page.entries.length < PAGE) return bytes;
    cursor = page.entries.at(-1)?.revision ?? upTo;
  }
}
