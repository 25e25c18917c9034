import { existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { silentLog } from '../../core/base/silent-log.ts';
import { keepCredentials } from '../credentials.ts';
import type { Restored, RestoreOptions } from '../database-file.ts';
import { giveToOwner, makeDurable } from '../owned-file.ts';
import { unavailable } from '../unavailable.ts';
import { copyDatabase, takeLabel } from './backup.ts';
import { openForReading } from './database.ts';
import { faultIn } from './integrity.ts';
import { moveAside } from './move-aside.ts';
import { APPLICATION_ID } from './schema.ts';
import { openSqliteStore } from './store.ts';

export function requireBackup(file: string): void {
  if (!existsSync(file)) throw unavailable(`${file} is not there`);
  const fault = faultIn(file);
  if (fault !== undefined) throw unavailable(`${file} cannot be restored: ${fault}`);
  const database = openForReading(file);
  try {
    const row = database.statement<{ application_id: number }>('PRAGMA application_id').get();
    if (row?.application_id !== APPLICATION_ID) throw unavailable(`${file} is no database of a control plane`);
  } finally {
    database.close();
  }
}

export async function putInPlace(to: string, { from, configDir, now }: RestoreOptions): Promise<Restored> {
  const draft = `${to}.new`;
  rmSync(draft, { force: true });
  let credentials: string | undefined;
  let aside: string | undefined;
  try {
    copyDatabase(from, draft);
    credentials = takeLabel(draft);
    makeDurable(draft);
    aside = moveAside(to, 'restore', now);
    renameSync(draft, to);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  makeDurable(path.dirname(to));
  giveToOwner(path.dirname(to), [path.basename(to)]);
  const store = await openSqliteStore({ path: to, clock: { now: () => now }, log: silentLog });
  await store.close();
  const kept = credentials !== undefined && keepCredentials(configDir, credentials);
  return { aside, credentials: kept };
}
