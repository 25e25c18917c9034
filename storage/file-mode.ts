import { chmodSync, statSync } from 'node:fs';

const OTHERS = 0o077;
const OWNER_ONLY = 0o600;

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
      chmodSync(file, OWNER_ONLY);
      return [`${had}: narrowed to 0600`];
    } catch {
      // A file system that is read-only, such as a mounted secret.
    }
  }
  return [`${had}: others can read it. Run: chmod 600 ${file}`];
}
