import { statSync } from 'node:fs';
import { DamageError, type Database, IN_MEMORY, isDamage, openForReading } from './database.ts';
import { unreadableIn } from './readable.ts';

/** Checked before a start goes on: some 30 ms. A larger file is checked beside it. */
const CHECKED_AT_ONCE_BYTES = 16 * 1024 * 1024;

/** @throws StoreError `unavailable` where the file is small enough to be looked at now, and damaged */
export function requireIntact(database: Database): void {
  if (database.path === IN_MEMORY || statSync(database.path).size > CHECKED_AT_ONCE_BYTES) return;
  const fault = quickFault(database);
  if (fault !== undefined) throw new DamageError(damaged(database.path, fault));
}

function quickFault(database: Database): string | undefined {
  try {
    const rows = database.statement<{ quick_check: string }>('PRAGMA quick_check(1)').all();
    return rows.find(({ quick_check: said }) => said !== 'ok')?.quick_check;
  } catch (error) {
    if (isDamage(error)) return (error as Error).message;
    throw error;
  }
}

/**
 * Reads every page of a file that may be in use, and then whatever a control plane wrote there: pages have no sums, so one that
 * a disk gave back as another can be sound and what is in it not.
 *
 * @returns how it is damaged
 * @throws Error where it cannot be read
 */
export function faultIn(path: string): string | undefined {
  let database: Database | undefined;
  try {
    database = openForReading(path);
    const rows = database.statement<{ integrity_check: string }>('PRAGMA integrity_check(1)').all();
    const fault = rows.find(({ integrity_check: said }) => said !== 'ok')?.integrity_check ?? unreadableIn(database);
    return fault === undefined ? undefined : damaged(path, fault);
  } catch (error) {
    if (!isDamage(error)) throw error;
    const { message, cause } = error as Error;
    return damaged(path, cause instanceof Error ? cause.message : message);
  } finally {
    database?.close();
  }
}

/** SQLite puts the name of the schema on a line of its own first. */
export function damaged(path: string, fault: string): string {
  const said = fault.replaceAll(/\*\*\*.*?\*\*\*\s*/g, '').replaceAll(/\s+/g, ' ');
  return `the database ${path} is damaged (${said})`;
}
