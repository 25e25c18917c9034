import type { CopySource } from '../copy/copy-ends.ts';
import { unavailable } from '../unavailable.ts';
import { contentsOf } from './contents.ts';
import { asStoreError, openDatabase } from './database.ts';
import { clearMoveNote, moveNoteOf, setMoveNote } from './move-note.ts';
import { unreadableIn } from './readable.ts';
import { migrate } from './schema.ts';

/** A file that no other process writes until this is closed. @throws StoreError `unavailable` */
export async function openSqliteSource(path: string): Promise<CopySource> {
  const database = openDatabase(path);
  try {
    await migrate(database);
  } catch (error) {
    database.close();
    throw asStoreError(error);
  }
  return {
    ...contentsOf(database),
    place: `sqlite:${path}`,
    moved: async () => moveNoteOf(database),
    async hold() {
      const found = unreadableIn(database);
      if (found !== undefined)
        throw unavailable(`${found} cannot be read, so nothing was copied: restore a backup first`);
    },
    release: async () => clearMoveNote(database),
    retire: async (moved) => setMoveNote(database, moved),
    close: async () => database.close(),
  };
}
