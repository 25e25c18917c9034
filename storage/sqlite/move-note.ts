import { existsSync } from 'node:fs';
import { type CopyMark, type MoveNote, movedRefusal, unfinishedRefusal } from '../copy/move-note.ts';
import { unavailable } from '../unavailable.ts';
import { type Database, openDatabase, openForReading } from './database.ts';
import { requireKnown } from './schema.ts';

/** Tables of one row beside those of the store, of a file that no control plane starts on. */
const MOVED = 'moved';
const COPY = 'copy_of';

/** @throws StoreError `unavailable` of a file that was moved, or is a copy that did not end */
export function requireInUse(database: Database): void {
  const why = notInUse(database);
  if (why !== undefined) throw unavailable(why);
}

export function retirementReason(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  return reading(path, (database) => {
    requireKnown(database);
    return notInUse(database);
  });
}

function notInUse(database: Database): string | undefined {
  const what = `the database ${database.path}`;
  const [moved, mark] = [moveNoteOf(database), copyMarkOf(database)];
  if (moved) return movedRefusal(what, moved);
  return mark && unfinishedRefusal(what, mark);
}

export const moveNoteOf = (database: Database) => rowOf<MoveNote>(database, MOVED);
export const copyMarkOf = (database: Database) => rowOf<CopyMark>(database, COPY);
export const setMoveNote = (database: Database, moved: MoveNote) => setRow(database, MOVED, moved);
export const setCopyMark = (database: Database, mark: CopyMark) => setRow(database, COPY, mark);

export function clearMoveNote({ connection }: Pick<Database, 'connection'>): void {
  connection.exec(`DROP TABLE IF EXISTS ${MOVED}`);
}

export function clearCopyMark(path: string): void {
  const database = openDatabase(path);
  try {
    database.exec(`DROP TABLE IF EXISTS ${COPY}`);
  } finally {
    database.close();
  }
}

function rowOf<T>(database: Database, table: string): T | undefined {
  if (!database.statement('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table)) return undefined;
  const row = database.connection.prepare(`SELECT content FROM ${table}`).get();
  return row && JSON.parse(String(row['content']));
}

function setRow(database: Database, table: string, content: object): void {
  database.transaction(() => {
    database.exec(`DROP TABLE IF EXISTS ${table}; CREATE TABLE ${table} (content TEXT NOT NULL) STRICT`);
    database.connection.prepare(`INSERT INTO ${table} VALUES (?)`).run(JSON.stringify(content));
  });
}

function reading<T>(path: string, read: (database: Database) => T): T {
  const database = openForReading(path);
  try {
    return read(database);
  } finally {
    database.close();
  }
}
