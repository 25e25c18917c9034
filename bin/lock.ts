import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Takes the directory for this process. The lock is the operating system's on a small SQLite file, so it ends with the
 * process however that ends; the pid beside it only names the holder.
 *
 * @throws Error naming the process that holds it.
 */
export function lockDirectory(directory: string): { release(): void } {
  const pidFile = path.join(directory, 'meshd.pid');
  const database = new DatabaseSync(path.join(directory, 'lock'));
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!/locked|busy/i.test((error as Error).message)) throw error;
    throw new Error(
      `${directory} is in use by another meshd (pid ${readPid(pidFile)}). Stop it, or use another --config-dir.`,
    );
  }
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  return { release: () => database.close() };
}

function readPid(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
