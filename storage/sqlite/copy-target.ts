import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import type { CopyTarget, TargetState } from '../copy/copy-ends.ts';
import { giveToOwner, makeDurable } from '../owned-file.ts';
import { contentsOf } from './contents.ts';
import { asStoreError, type Database, isDamage, openDatabase, openForReading } from './database.ts';
import { moveAside } from './move-aside.ts';
import { clearCopyMark, copyMarkOf, moveNoteOf, setCopyMark } from './move-note.ts';
import { migrate } from './schema.ts';
import { ensureWorkspace, findWorkspace } from './workspaces.ts';
import { ROW_WRITERS } from './write-rows.ts';

/** A file, which is written beside its place and put there once it is whole. */
export function sqliteTarget(file: string, now: number): CopyTarget {
  const draft = `${file}.copy`;
  let old: Database | undefined;
  let written: Database | undefined;
  const open = () => {
    if (!written) throw new TypeError('The copy is not begun.');
    return written;
  };
  const close = () => {
    for (const database of [old, written]) database?.close();
    old = undefined;
    written = undefined;
  };

  return {
    place: `sqlite:${file}`,
    async find() {
      const mark = markIn(file) ?? markIn(draft);
      if (mark) return { is: 'unfinished', mark };
      if (!isThere(file)) return { is: 'empty' };
      const found = targetFileOf(file);
      old = found.database;
      return found;
    },
    async begin(mark) {
      for (const name of [draft, ...(markIn(file) ? [file] : [])]) remove(name);
      written = openDatabase(draft);
      await migrate(written);
      setCopyMark(written, mark);
    },
    async addWorkspace({ name, revision, at, compacted, keep }) {
      const database = open();
      const { id } = ensureWorkspace(database, name);
      database
        .statement('UPDATE workspace SET revision = ?, at = ?, compacted = ?, keep = ? WHERE id = ?')
        .run(revision, at, compacted, JSON.stringify(keep), id);
    },
    async write({ name }, part, rows) {
      const database = open();
      const ws = findWorkspace(database, name)?.id ?? -1;
      try {
        database.transaction(() => {
          for (const row of rows) ROW_WRITERS[part](database, ws, row as never);
        });
      } catch (error) {
        throw asStoreError(error);
      }
    },
    written: async () => contentsOf(open()),
    async finish() {
      open().exec('PRAGMA wal_checkpoint(TRUNCATE)');
      close();
      makeDurable(draft);
      const aside = moveAside(file, 'copy', now);
      renameSync(draft, file);
      makeDurable(path.dirname(file));
      giveToOwner(path.dirname(file), [path.basename(file)]);
      clearCopyMark(file);
      return aside;
    },
    close: async () => close(),
  };
}

type TargetFile = Extract<TargetState, { is: 'used' | 'empty' | 'retired' }> & { readonly database?: Database };

function targetFileOf(file: string): TargetFile {
  const database = openForReading(file);
  try {
    if (moveNoteOf(database)) return { is: 'retired', contents: contentsOf(database), database };
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  database.close();
  return { is: 'used' };
}

function isThere(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function markIn(file: string) {
  if (!isThere(file)) return undefined;
  const database = openForReading(file);
  try {
    return copyMarkOf(database);
  } catch (error) {
    // Whatever is there is no copy of ours.
    if (isDamage(error)) return undefined;
    throw error;
  } finally {
    database.close();
  }
}

/** Removes the files of an unfinished copy. @throws StoreError `unavailable` if another process is writing them */
function remove(file: string): void {
  if (existsSync(file)) openDatabase(file).close();
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
}
