import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync, realpathSync, statSync } from 'node:fs';

const OTHERS = 0o077;
const OWNER_ONLY = 0o600;
const GROUP_READS = 0o040;

/**
 * Which mode of a file lets others than this process read the secrets in it; undefined where none does. A file of another
 * user's is handed to this one by its group, as a secret of a container or a credential of a service is: that may read it.
 */
export function modeOpenToOthers(file: string): string | undefined {
  const { mode, uid } = statSync(file);
  const closed = uid === process.geteuid?.() ? OTHERS : OTHERS & ~GROUP_READS;
  return (mode & closed) === 0 ? undefined : (mode & 0o777).toString(8);
}

/**
 * Takes a file that holds a secret from everyone but its owner, where that is this process.
 *
 * @param user the id of this process's user
 * @returns what was done, or what an operator should do, as sentences
 */
export function closeToOthers(file: string, user = process.getuid?.()): string[] {
  const { mode, uid } = statSync(file);
  if ((mode & OTHERS) === 0) return [];
  const had = `${file} holds a secret and has the mode ${(mode & 0o777).toString(8).padStart(4, '0')}`;
  if (uid === user) {
    try {
      if (narrow(file)) return [`${had}: narrowed to 0600`];
    } catch {
      // A file system that is read-only, such as a mounted secret.
    }
  }
  return [`${had}: others can read it. Run: chmod 600 ${file}`];
}

/**
 * Takes a file from everyone but its owner. A link is followed only to what its maker owns, and what becomes a link meanwhile
 * is not; a file that is narrow already is not even opened.
 *
 * @returns whether it is its owner's alone now
 */
export function narrow(file: string): boolean {
  const place = realpathSync(file);
  const { mode, uid } = lstatSync(place);
  if ((mode & OTHERS) === 0) return true;
  const link = lstatSync(file);
  if (link.isSymbolicLink() && link.uid !== uid) return false;
  const handle = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (fstatSync(handle).uid !== uid) return false;
    fchmodSync(handle, OWNER_ONLY);
    return true;
  } finally {
    closeSync(handle);
  }
}
