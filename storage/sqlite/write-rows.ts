import type { Kind } from '../../core/base/record.ts';
import type { Part, Rows } from '../copy/contents.ts';
import type { Database } from './database.ts';

type RowWriter = (database: Database, ws: number, row: never) => void;

/** Rows of a copy, as they are. Records come before their versions. */
export const ROW_WRITERS = {
  log(database, ws, { seq, at, commit, hashes, entry }: Rows['log']) {
    database
      .statement('INSERT INTO audit (ws, seq, at, revision, hashes, entry) VALUES (?, ?, ?, ?, ?, ?)')
      .run(ws, seq, at, commit ?? null, hashes, entry);
  },
  records(database, ws, { kind, name, uid, revision, body, unique }: Rows['records']) {
    database
      .statement('INSERT INTO record (ws, kind, name, uid, revision, body) VALUES (?, ?, ?, ?, ?, ?)')
      .run(ws, kind, name, uid ?? null, revision, body ?? null);
    if (unique.length === 0) return;
    const id = idOf(database, ws, kind, name);
    const insert = database.statement('INSERT INTO unique_value (value, ws, record) VALUES (?, ?, ?)');
    for (const value of unique) insert.run(value, ws, id);
  },
  versions(database, ws, { kind, name, revision, until, body }: Rows['versions']) {
    database
      .statement('INSERT INTO version (record, until, ws, revision, body) VALUES (?, ?, ?, ?, ?)')
      .run(idOf(database, ws, kind, name), until, ws, revision, body);
  },
  checkpoints(database, ws, { day, at, size, note }: Rows['checkpoints']) {
    database
      .statement('INSERT INTO checkpoint (ws, day, at, size, note) VALUES (?, ?, ?, ?, ?)')
      .run(ws, day, at, size, note);
  },
} satisfies Record<Part, RowWriter>;

/** A record without a row is one that a version belongs to and that is not there: no such version is written. */
function idOf(database: Database, ws: number, kind: Kind, name: string): number | null {
  const row = database
    .statement<{ id: number }>('SELECT id FROM record WHERE ws = ? AND kind = ? AND name = ?')
    .get(ws, kind, name);
  return row?.id ?? null;
}
