import { closeSync, openSync, rmSync } from 'node:fs';
import { backup } from 'node:sqlite';
import { unavailable } from '../unavailable.ts';
import { tellCompacted } from './compact.ts';
import type { Database } from './database.ts';
import { makeTrees } from './make-trees.ts';
import { unreadableIn } from './readable.ts';
import { keptRevisions, type WorkspaceRow } from './workspaces.ts';

/** "Mesh" in ASCII: tells a file of this store from another program's. */
export const APPLICATION_ID = 0x4d657368;

/** A migration step: SQL, or a function for what SQL alone cannot do. */
type Step = string | ((database: Database) => void);

export const SCHEMA_1 = `
  CREATE TABLE workspace (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL DEFAULT 0,
    at INTEGER NOT NULL DEFAULT 0,
    compacted INTEGER NOT NULL DEFAULT 0,
    keep TEXT NOT NULL DEFAULT '[]'
  ) STRICT;

  -- One row per name ever used and still known to history; body is NULL once deleted.
  CREATE TABLE record (
    id INTEGER PRIMARY KEY,
    ws INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    uid TEXT,
    revision INTEGER NOT NULL,
    body TEXT,
    UNIQUE (ws, kind, name)
  ) STRICT;
  CREATE UNIQUE INDEX record_uid ON record (ws, uid) WHERE uid IS NOT NULL;

  -- Superseded bodies, in force from revision until before until.
  CREATE TABLE version (
    record INTEGER NOT NULL,
    until INTEGER NOT NULL,
    ws INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (record, until)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX version_until ON version (ws, until);

  CREATE TABLE unique_value (
    value TEXT NOT NULL,
    ws INTEGER NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (value, ws)
  ) STRICT, WITHOUT ROWID;

  -- leaf is the RFC 6962 leaf hash of entry.
  CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    ws INTEGER NOT NULL,
    at INTEGER NOT NULL,
    revision INTEGER,
    entry TEXT NOT NULL,
    leaf BLOB NOT NULL
  ) STRICT;
  CREATE INDEX audit_at ON audit (ws, at);
  CREATE UNIQUE INDEX audit_revision ON audit (ws, revision) WHERE revision IS NOT NULL;
  CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
  CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

  CREATE TABLE lease (
    name TEXT PRIMARY KEY,
    holder TEXT,
    fence INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

/** Step n brings a file from schema n to n + 1. Steps are never changed once released. */
export const MIGRATIONS: readonly Step[] = [SCHEMA_1, makeTrees, explainCompaction];

/**
 * Brings the file to the newest schema, forward only, each step a transaction; a file with data is copied first to
 * `<path>.schema-<n>.bak`. Tables that are not ours are left alone. A newer schema is refused.
 * @returns the path of the copy, if one was made
 */
export async function migrate(
  database: Database,
  migrations: readonly Step[] = MIGRATIONS,
  check: (database: Database) => void = requireReadable,
): Promise<string | undefined> {
  const present = schemaOf(database);
  requireKnown(database, migrations.length);
  if (present === migrations.length) return undefined;
  if (present > 0) check(database);
  const copy = present > 0 ? await copyOf(database, present) : undefined;
  for (const [offset, step] of migrations.slice(present).entries()) {
    database.transaction(() => {
      if (typeof step === 'string') database.exec(step);
      else step(database);
      database.exec(`
        PRAGMA application_id = ${APPLICATION_ID};
        PRAGMA user_version = ${present + offset + 1};
      `);
    });
  }
  return copy;
}

/** @throws StoreError `unavailable` for a file of a newer version, or of another program */
export function requireKnown(database: Database, known = MIGRATIONS.length): void {
  const present = schemaOf(database);
  if (present <= known) return;
  throw unavailable(
    `${database.path} has schema ${present}, newer than the ${known} this version knows; start the newer version or restore a backup made before the upgrade`,
  );
}

/** @throws StoreError `unavailable` that names what a newer schema could not take over; the file is as it was */
function requireReadable(database: Database): void {
  const found = unreadableIn(database);
  if (found === undefined) return;
  throw unavailable(
    `${database.path} is not upgraded, for ${found}; nothing was changed: restore a backup of before it was damaged, or start the version that wrote it and delete it there`,
  );
}

function schemaOf(database: Database): number {
  const owner = database.statement<{ application_id: number }>('PRAGMA application_id').get()?.application_id ?? 0;
  if (owner !== 0 && owner !== APPLICATION_ID) {
    throw unavailable(`${database.path} belongs to another program; point the store at a file of its own`);
  }
  const version = database.statement<{ user_version: number }>('PRAGMA user_version').get()?.user_version ?? 0;
  return owner === APPLICATION_ID ? version : 0;
}

async function copyOf(database: Database, schema: number): Promise<string> {
  const path = `${database.path}.schema-${schema}.bak`;
  // A new file: what stands there may be a link to another one.
  rmSync(path, { force: true });
  closeSync(openSync(path, 'wx', 0o600));
  await backup(database.connection, path);
  return path;
}

/** Schema 3: the log says which old versions are gone; of those that were dropped before, one entry says it for each workspace. */
function explainCompaction(database: Database): void {
  const rows = database.statement<WorkspaceRow>('SELECT * FROM workspace WHERE compacted > 0 ORDER BY id').all();
  for (const row of rows) {
    const detail = { upTo: row.compacted, keep: keptRevisions(row) };
    tellCompacted(database, row.name, detail, 'system:upgrade', Date.now());
  }
}
