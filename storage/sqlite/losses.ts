import { statSync } from 'node:fs';
import type { KeptHead } from '../../core/audit/log-keys.ts';
import { type Loss, lossesIn } from '../../core/audit/losses.ts';
import { asStoreError, type Database, openForReading } from './database.ts';
import { requireIntact } from './integrity.ts';
import { readTree } from './tree.ts';

/**
 * What a file, which may be in use, does not hold of what was signed of it. Nothing is written.
 *
 * @returns undefined where nothing was ever stored in it
 * @throws StoreError `unavailable` for a file that is damaged, or is none of a store
 */
export async function lossesOfFile(path: string, heads: readonly KeptHead[]): Promise<readonly Loss[] | undefined> {
  const database = openForReading(path);
  try {
    requireIntact(database);
    if (!hasSchema(database)) return undefined;
    return await lossesOf(database, heads);
  } catch (error) {
    throw asStoreError(error);
  } finally {
    database.close();
  }
}

/** Whether anything was ever written in a file, which may not be there. @throws StoreError `unavailable` for one that is damaged */
export function hasEntries(path: string): boolean {
  if (!statSync(path, { throwIfNoEntry: false })?.size) return false;
  const database = openForReading(path);
  try {
    return hasSchema(database) && database.statement('SELECT 1 FROM audit LIMIT 1').get() !== undefined;
  } catch (error) {
    throw asStoreError(error);
  } finally {
    database.close();
  }
}

function hasSchema(database: Database): boolean {
  const row = database.statement<{ version: number }>('SELECT user_version AS version FROM pragma_user_version').get();
  return row !== undefined && row.version > 0;
}

export function lossesOf(database: Database, heads: readonly KeptHead[]): Promise<readonly Loss[]> {
  const refuse = () => Promise.reject(new TypeError('A file that is only read keeps no checkpoint.'));
  const auditTree = (workspace: string) => ({ ...readTree(database, workspace), keepCheckpoint: refuse });
  return lossesIn({ auditTree }, heads);
}
