import { closeSync, constants, lstatSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/** The holder of a directory lock, and the refusal for another process that finds the directory locked. */
export interface LockHolder {
  readonly pidFile: string;
  readonly lockFile: string;
  refusal(directory: string, pid: string): string;
}

const MESHD: LockHolder = {
  pidFile: 'meshd.pid',
  lockFile: 'lock',
  refusal: (directory, pid) =>
    `${directory} is in use by another meshd (pid ${pid}). Stop it, or use another --config-dir.`,
};

interface Lock {
  /** Names this process as the holder. */
  sign(): void;
  release(): void;
}

/** Takes the directory for this process, which is named as the holder. @throws Error naming the process that holds it. */
export function lockDirectory(directory: string, holder: LockHolder): Lock {
  const lock = takeLock(directory, holder);
  lock.sign();
  return lock;
}

/**
 * Takes the directory for this process. The lock is the operating system's on a small SQLite file, so it ends with the
 * process however that ends; the pid beside it only names the holder. Where the lock file was deleted two can have it: of a
 * control plane only who has the database too signs.
 *
 * @throws Error naming the process that holds it.
 */
export function takeLock(directory: string, holder: LockHolder = MESHD, open = openExisting): Lock {
  const pidFile = path.join(directory, holder.pidFile);
  const lockFile = path.join(directory, holder.lockFile);
  // The directory may be another user's: neither file is looked for behind a link of theirs.
  if (lstatSync(lockFile, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new Error(`${lockFile} is a link: remove it.`);
  }
  let database: DatabaseSync | undefined;
  try {
    makeFile(lockFile);
    database = open(lockFile);
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    database?.close();
    // SQLite itself does not say which file it is.
    if (!/locked|busy/i.test((error as Error).message)) throw Object.assign(error as Error, { path: lockFile });
    throw new Error(holder.refusal(directory, readPid(pidFile)));
  }
  const held = database;
  return {
    sign() {
      rmSync(pidFile, { force: true });
      writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600, flag: 'wx' });
    },
    release: () => held.close(),
  };
}

/** Opens a database that is there: a link that took its place since makes nothing elsewhere. */
export function openExisting(file: string): DatabaseSync {
  return new DatabaseSync(Object.assign(pathToFileURL(file), { search: '?mode=rw' }));
}

/** Makes the file where it is not there, and none behind a link. */
function makeFile(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`${file} is a directory: remove it.`);
  const { O_RDWR, O_CREAT, O_NOFOLLOW = 0 } = constants;
  closeSync(openSync(file, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600));
}

/** The control plane that took a directory last, which may have ended. */
export function signedPid(directory: string): string {
  return readPid(path.join(directory, MESHD.pidFile));
}

function readPid(file: string): string {
  let handle: number | undefined;
  try {
    // A named pipe in its place would hold up whoever opens it.
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    return readFileSync(handle, 'utf8').trim();
  } catch {
    return 'unknown';
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
