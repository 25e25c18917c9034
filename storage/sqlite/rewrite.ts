import { statSync } from 'node:fs';
import { asStoreError, openDatabase } from './database.ts';
import { requireIntact } from './integrity.ts';

/**
 * Rewrites a database that nobody has open without the space that nothing uses. From then on free pages can be given back
 * while it is in use, also where an older version made the file.
 *
 * @throws StoreError `unavailable`
 */
export function rewriteDatabase(path: string): { readonly before: number; readonly after: number } {
  const before = statSync(path).size;
  const database = openDatabase(path);
  try {
    requireIntact(database);
    database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (error) {
    throw asStoreError(error);
  } finally {
    database.close();
  }
  return { before, after: statSync(path).size };
}
