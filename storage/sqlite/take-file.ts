import type { DatabaseSync } from 'node:sqlite';

/** How long another process may need to end. Meanwhile nobody else can open the file. */
const PATIENCE_MS = 2_000;

/**
 * Makes this connection the only one that opens the file for writing. SQLite's exclusive lock on the file itself is taken,
 * which no other process must hold a part of, and given back but for the shared one that a connection keeps until it is
 * closed: whoever takes the exclusive one later fails by that. Readers come and go. The lock is the operating system's on
 * the file, not on a name of it, and ends with the process.
 *
 * @throws Error SQLITE_BUSY where another process has the file open
 */
export function takeFile(connection: DatabaseSync): void {
  const { timeout } = connection.prepare('PRAGMA busy_timeout').get() as { timeout: number };
  // Read first: a log that is opened under the exclusive lock is one that no other connection can share.
  connection.exec(`SELECT count(*) FROM sqlite_schema; PRAGMA busy_timeout = ${PATIENCE_MS}`);
  connection.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT');
  connection.exec(`PRAGMA locking_mode = NORMAL; BEGIN IMMEDIATE; COMMIT; PRAGMA busy_timeout = ${timeout}`);
}
