import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StoredHead } from '../../core/audit/log-keys.ts';
import { lossesIn } from '../../core/audit/losses.ts';
import { StoreError } from '../../core/base/ports.ts';
import type { BackupLabel, BackupOptions, BackupResult } from '../database-file.ts';
import { makeDurable } from '../owned-file.ts';
import { unavailable } from '../unavailable.ts';
import { asStoreError, createPrivate, openForReading } from './database.ts';
import { faultIn } from './integrity.ts';
import { logsOf } from './losses.ts';
import { clearMoveNote } from './move-note.ts';
import { sizeOf } from './tree.ts';

/** A table beside those of the store: the label, and credentials.json where it goes along. */
const TABLE = 'backup';
const CREDENTIALS = 'credentials.json';

export async function writeBackup(from: string, options: BackupOptions): Promise<BackupResult> {
  const { to, now, installation, credentials } = options;
  const draft = `${to}.new`;
  rmSync(draft, { force: true });
  try {
    copyDatabase(from, draft);
    label(draft, { at: now, installation }, credentials);
    const made = await readBack(draft, options.heads);
    makeDurable(draft);
    renameSync(draft, to);
    makeDurable(path.dirname(to));
    return { at: now, installation, bytes: statSync(to).size, ...made };
  } catch (error) {
    rmSync(draft, { force: true });
    throw isFull(error)
      ? new StoreError('full', `the disk of ${to} is full: make room there, or name another place.`)
      : error;
  }
}

function isFull(error: unknown): boolean {
  const failure = asStoreError(error);
  return failure instanceof StoreError ? failure.code === 'full' : (failure as NodeJS.ErrnoException).code === 'ENOSPC';
}

/** All of a database, what its log holds too, as of one moment. Its owner alone can read the copy. */
export function copyDatabase(from: string, to: string): void {
  createPrivate(to);
  const source = openForReading(from);
  try {
    source.statement('VACUUM INTO ?').run(to);
  } catch (error) {
    throw asStoreError(error);
  } finally {
    source.close();
  }
}

function label(file: string, { at, installation }: BackupLabel, credentials: string | undefined): void {
  const database = new DatabaseSync(file);
  try {
    database.exec(`CREATE TABLE ${TABLE} (name TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT, WITHOUT ROWID`);
    const insert = database.prepare(`INSERT INTO ${TABLE} VALUES (?, ?)`);
    insert.run('label', JSON.stringify({ at, installation } satisfies BackupLabel));
    if (credentials !== undefined) insert.run(CREDENTIALS, credentials);
  } finally {
    database.close();
  }
}

async function readBack(file: string, heads: readonly StoredHead[]): Promise<{ entries: number }> {
  const fault = faultIn(file);
  if (fault !== undefined) throw unavailable(`the backup does not read back: ${fault}`);
  const database = openForReading(file);
  try {
    const [loss] = await lossesIn(logsOf(database), heads);
    if (loss) throw unavailable(`the backup lacks ${loss.had - loss.has} entries of the log of ${loss.workspace}`);
    const rows = database.statement<{ id: number }>('SELECT id FROM workspace').all();
    return { entries: rows.reduce((sum, { id }) => sum + sizeOf(database, id), 0) };
  } finally {
    database.close();
  }
}

/** Takes the label off the copy of a backup, so that it is a database like any other. @returns the credentials in it */
export function takeLabel(file: string): string | undefined {
  const database = new DatabaseSync(file);
  try {
    const credentials = rowOf(database, CREDENTIALS);
    // Overwrites what is dropped: the keys must not stay in free pages.
    database.exec(`PRAGMA secure_delete = ON; DROP TABLE IF EXISTS ${TABLE}`);
    // A restored database may be started on, also where the file had been moved elsewhere.
    clearMoveNote({ connection: database });
    return credentials;
  } finally {
    database.close();
  }
}

export function requireReplaceable(file: string): void {
  if (!existsSync(file) || isBackup(file)) return;
  throw unavailable(`${file} is there and is no backup: name another file, or remove it`);
}

function isBackup(file: string): boolean {
  try {
    return labelOf(file) !== undefined;
  } catch {
    return false;
  }
}

export function labelOf(file: string): BackupLabel | undefined {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const text = rowOf(database, 'label');
    return text === undefined ? undefined : (JSON.parse(text) as BackupLabel);
  } finally {
    database.close();
  }
}

function rowOf(database: DatabaseSync, name: string): string | undefined {
  const known = database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(TABLE);
  const row = known && database.prepare(`SELECT content FROM ${TABLE} WHERE name = ?`).get(name);
  return row && String(row['content']);
}
