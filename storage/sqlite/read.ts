import { setImmediate as nextTick } from 'node:timers/promises';
import type { AsOf, ListPage, ListQuery } from '../../core/base/ports.ts';
import { StoreError } from '../../core/base/ports.ts';
import { foldName, KINDS, type Kind, type RecordKey, type StoredRecord } from '../../core/base/record.ts';
import { decodeBody, type StoredBody } from '../body.ts';
import { commitEntries } from './audit.ts';
import type { Database } from './database.ts';
import { findWorkspace, instantOf, isKept, resolveAsOf, type WorkspaceRow } from './workspaces.ts';

interface Row {
  readonly name: string;
  readonly revision: number;
  readonly body: StoredBody;
}

/** Records read between two turns of the event loop: a few milliseconds of work. */
const PAGE = 250;

/** The version of a record at a revision: the live one if it is old enough, else the first superseded after it. */
const AS_OF = `
  SELECT r.name AS name,
         iif(r.revision <= :revision, r.revision, v.revision) AS revision,
         iif(r.revision <= :revision, r.body, v.body) AS body
  FROM record r LEFT JOIN version v
    ON r.revision > :revision AND v.record = r.id
   AND v.until = (SELECT min(until) FROM version WHERE record = r.id AND until > :revision)`;
const IN_FORCE = `
   AND iif(r.revision <= :revision, r.body IS NOT NULL, v.revision <= :revision)`;

export function getRecord<K extends Kind>(
  database: Database,
  name: string,
  key: RecordKey<K>,
  asOf: AsOf | undefined,
): StoredRecord<K> | undefined {
  const workspace = findWorkspace(database, name);
  if (asOf === undefined) {
    const row = workspace && liveRow(database, workspace, key);
    return row && decodeBody(name, key.kind, row.revision, row.body);
  }
  requireHistory(key.kind);
  if (!workspace) return undefined;
  const revision = resolveAsOf(database, workspace, asOf);
  const row = database
    .statement<Row>(`${AS_OF} WHERE r.ws = :ws AND r.kind = :kind AND r.name = :name ${IN_FORCE}`)
    .get({ ws: workspace.id, kind: key.kind, name: foldName(key.name), revision });
  return row && decodeBody(name, key.kind, row.revision, row.body);
}

function liveRow(database: Database, workspace: WorkspaceRow, key: RecordKey): Row | undefined {
  return database
    .statement<Row>(
      'SELECT name, revision, body FROM record WHERE ws = ? AND kind = ? AND name = ? AND body IS NOT NULL',
    )
    .get(workspace.id, key.kind, foldName(key.name));
}

export function getRecordById<K extends Kind>(
  database: Database,
  name: string,
  kind: K,
  uid: string,
): StoredRecord<K> | undefined {
  const row = database
    .statement<Row>(
      `SELECT r.name, r.revision, r.body FROM record r JOIN workspace w ON w.id = r.ws
       WHERE w.name = ? AND r.uid = ? AND r.kind = ?`,
    )
    .get(name, uid, kind);
  return row && decodeBody(name, kind, row.revision, row.body);
}

export function lookupRecord(database: Database, value: string, name?: string): StoredRecord | undefined {
  const row = database
    .statement<Row & { readonly kind: Kind; readonly workspace: string }>(
      `SELECT r.name, r.kind, r.revision, r.body, w.name AS workspace
       FROM unique_value u JOIN record r ON r.id = u.record JOIN workspace w ON w.id = u.ws
       WHERE u.value = ? AND (? IS NULL OR w.name = ?) LIMIT 1`,
    )
    .get(value, name ?? null, name ?? null);
  return row && decodeBody(row.workspace, row.kind, row.revision, row.body);
}

/** Pages through the records, giving way to others in between; kinds with kept history all as of one revision. */
export async function listRecords<K extends Kind>(
  database: Database,
  name: string,
  kind: K,
  { after, limit = Number.POSITIVE_INFINITY, asOf }: ListQuery,
): Promise<ListPage<K>> {
  if (asOf !== undefined) requireHistory(kind);
  const workspace = findWorkspace(database, name);
  if (!workspace) return { items: [], revision: 0 };
  const revision = asOf === undefined ? workspace.revision : resolveAsOf(database, workspace, asOf);
  const items: StoredRecord<K>[] = [];
  let cursor = after === undefined ? '' : foldName(after);
  for (;;) {
    const wanted = Math.min(PAGE, limit + 1 - items.length);
    const rows = pageOf(database, workspace, kind, cursor, revision, wanted);
    for (const row of rows) items.push(decodeBody(name, kind, row.revision, row.body));
    if (items.length > limit) {
      const page = items.slice(0, limit);
      return { items: page, revision, next: page.at(-1)?.name ?? after ?? '' };
    }
    cursor = rows.at(-1)?.name ?? cursor;
    if (rows.length < wanted || wanted <= 0) return { items, revision };
    await nextTick();
    requireKept(database, name, revision);
  }
}

function pageOf(
  database: Database,
  workspace: WorkspaceRow,
  kind: Kind,
  after: string,
  revision: number,
  limit: number,
): Row[] {
  if (!KINDS[kind].history) {
    return database
      .statement<Row>(
        `SELECT name, revision, body FROM record
         WHERE ws = ? AND kind = ? AND name > ? AND body IS NOT NULL ORDER BY name LIMIT ?`,
      )
      .all(workspace.id, kind, after, limit);
  }
  return database
    .statement<Row>(
      `${AS_OF} WHERE r.ws = :ws AND r.kind = :kind AND r.name > :after ${IN_FORCE} ORDER BY r.name LIMIT :limit`,
    )
    .all({ ws: workspace.id, kind, after, revision, limit });
}

/** A compaction may have overtaken a reader that gave way. */
function requireKept(database: Database, name: string, revision: number): void {
  const workspace = findWorkspace(database, name);
  if (workspace && !isKept(workspace, revision)) throw new StoreError('compacted', `${name} at revision ${revision}`);
}

function requireHistory(kind: Kind): void {
  if (!KINDS[kind].history) throw new StoreError('compacted', `${kind} keeps no history`);
}

interface HistoryEntry<K extends Kind> {
  readonly revision: number;
  readonly at: number;
  readonly record?: StoredRecord<K>;
}

export function historyOf<K extends Kind>(database: Database, name: string, key: RecordKey<K>): HistoryEntry<K>[] {
  const workspace = findWorkspace(database, name);
  if (!workspace) return [];
  const parameters = { ws: workspace.id, kind: key.kind, name: foldName(key.name) };
  const versions = database
    .statement<Row & { readonly until: number }>(
      `SELECT r.name, v.revision, v.body, v.until FROM version v JOIN record r ON r.id = v.record
       WHERE r.ws = :ws AND r.kind = :kind AND r.name = :name ORDER BY v.until`,
    )
    .all(parameters);
  const live = liveRow(database, workspace, key);
  const entry = (row: Row): HistoryEntry<K> => ({
    revision: row.revision,
    at: instantOf(database, workspace, row.revision) ?? 0,
    record: decodeBody(name, key.kind, row.revision, row.body),
  });
  const starts = new Set([...versions, ...(live ? [live] : [])].map(({ revision }) => revision));
  const deletions = versions
    .filter(({ until }) => !starts.has(until) && wasDeleted(database, workspace, key, until))
    .map(({ until }): HistoryEntry<K> => ({ revision: until, at: instantOf(database, workspace, until) ?? 0 }));
  return [...versions.map(entry), ...deletions, ...(live ? [entry(live)] : [])].sort((a, b) => a.revision - b.revision);
}

/** The version that follows may have been compacted away: the log tells it from a deletion. */
function wasDeleted(database: Database, workspace: WorkspaceRow, key: RecordKey, revision: number): boolean {
  const [commit] = commitEntries(database, workspace, revision - 1, revision, 1);
  const last = commit?.changes.findLast(({ kind, name }) => kind === key.kind && foldName(name) === foldName(key.name));
  return last?.type === 'deleted';
}
