import { statSync } from 'node:fs';
import type { Store } from '../../core/base/ports.ts';
import { asStoreError, type Database, openForReading } from './database.ts';
import { requireIntact } from './integrity.ts';
import { readTree } from './tree.ts';

type Logs = Pick<Store, 'auditTree' | 'workspaces'>;

export async function readLogs<T>(path: string, look: (store: Logs) => Promise<T>): Promise<T | undefined> {
  const database = openForReading(path);
  try {
    requireIntact(database);
    if (!hasSchema(database)) return undefined;
    return await look(logsOf(database));
  } catch (error) {
    throw asStoreError(error);
  } finally {
    database.close();
  }
}

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

export function logsOf(database: Database): Logs {
  const refuse = () => Promise.reject(new TypeError('A file that is only read keeps no checkpoint.'));
  const auditTree = (workspace: string) => ({ ...readTree(database, workspace), keepCheckpoint: refuse });
  const names = () => database.statement<{ name: string }>('SELECT name FROM workspace ORDER BY id').all();
  return { auditTree, workspaces: async () => names().map(({ name }) => name) };
}
