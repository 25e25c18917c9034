import { isUtf8 } from 'node:buffer';
import { decodeBody, type StoredBody } from '../body.ts';
import type { Database } from './database.ts';

/** Rows that are in memory at once. */
const PAGE = 500;

interface Row {
  readonly id: number;
  readonly workspace: string;
  readonly kind: string;
  readonly name: string;
  readonly revision: number;
  readonly body: StoredBody;
}

/**
 * Reads all records, what they were before, and all entries of the audit log, in a file of any schema.
 *
 * @returns the first that cannot be read, in words
 */
export function unreadableIn(database: Database): string | undefined {
  if (!isOfMesh(database)) return undefined;
  const what =
    unreadableRetention(database) ??
    unreadableRecord(database) ??
    unreadableVersion(database) ??
    unreadableEntry(database);
  return what === undefined ? undefined : `${what} cannot be read`;
}

function isOfMesh(database: Database): boolean {
  return database.statement("SELECT 1 FROM sqlite_schema WHERE name = 'audit'").get() !== undefined;
}

/** Which past revisions can be read, as a workspace has it. */
function unreadableRetention(database: Database): string | undefined {
  const rows = database.statement<{ name: string; keep: string }>('SELECT name, keep FROM workspace ORDER BY id').all();
  const found = rows.find(({ keep }) => !isRevisions(parsed(keep)));
  return found && `the list of kept revisions of workspace ${found.name}`;
}

const isRevisions = (value: unknown) => Array.isArray(value) && value.every(Number.isSafeInteger);

function unreadableRecord(database: Database): string | undefined {
  const pages = database.statement<Row>(`
    SELECT record.id, workspace.name AS workspace, kind, record.name, record.revision, body
    FROM record JOIN workspace ON workspace.id = ws
    WHERE record.id > ? AND body IS NOT NULL ORDER BY record.id LIMIT ${PAGE}`);
  for (let rows = pages.all(0); rows.length > 0; rows = pages.all(rows.at(-1)?.id ?? 0)) {
    const found = rows.find((row) => !isReadable(row) || !isUtf8In(database, row));
    if (found) return recordInWords(found);
  }
  return undefined;
}

/** Bytes that are no UTF-8 are read as U+FFFD, which a text may have too. */
function isUtf8In(database: Database, { id, body }: Row): boolean {
  if (typeof body !== 'string' || !body.includes('\uFFFD')) return true;
  const row = database
    .statement<{ bytes: Uint8Array }>('SELECT CAST(body AS BLOB) AS bytes FROM record WHERE id = ?')
    .get(id);
  return row !== undefined && isUtf8(row.bytes);
}

function unreadableVersion(database: Database): string | undefined {
  const pages = database.statement<Row & { readonly until: number }>(`
    SELECT record.id, workspace.name AS workspace, kind, record.name, version.revision, version.body, until
    FROM version JOIN record ON record.id = version.record JOIN workspace ON workspace.id = version.ws
    WHERE (version.record, until) > (?, ?) ORDER BY version.record, until LIMIT ${PAGE}`);
  for (let rows = pages.all(0, 0); rows.length > 0; ) {
    const found = rows.find((row) => !isReadable(row));
    if (found) return recordInWords(found);
    const last = rows.at(-1);
    rows = pages.all(last?.id ?? 0, last?.until ?? 0);
  }
  return undefined;
}

function unreadableEntry(database: Database): string | undefined {
  const pages = database.statement<{ ws: number; seq: number; entry: string }>(
    `SELECT ws, seq, entry FROM audit WHERE (ws, seq) > (?, ?) ORDER BY ws, seq LIMIT ${PAGE}`,
  );
  for (let rows = pages.all(-1, -1); rows.length > 0; ) {
    const found = rows.find(({ entry }) => !isObject(parsed(entry)));
    if (found) return `entry ${found.seq} of the audit log of ${workspaceOf(database, found.ws)}`;
    const last = rows.at(-1);
    rows = pages.all(last?.ws ?? 0, last?.seq ?? 0);
  }
  return undefined;
}

function workspaceOf(database: Database, id: number): string {
  const row = database.statement<{ name: string }>('SELECT name FROM workspace WHERE id = ?').get(id);
  return row ? `workspace ${row.name}` : 'the installation';
}

function recordInWords({ workspace, kind, name, revision }: Row): string {
  return `${kind} ${name} of workspace ${workspace}, as of revision ${revision}`;
}

/** True if a body is the text of a record. The `spec` of its kind is validated where it is used. */
function isReadable({ workspace, kind, revision, body }: Row): boolean {
  try {
    const { name, uid, labels, spec, status, unique } = decodeBody(workspace, kind as 'MeshPolicy', revision, body);
    const texts = [name, uid].every((value) => typeof value === 'string');
    return texts && Array.isArray(unique) && [labels, spec, status].every(isObject);
  } catch {
    return false;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
