import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { signedPid } from '../../../storage/directory-lock.ts';
import { locking } from '../locking.ts';

/**
 * Returns true if a control plane runs in a directory, even where its lock file was deleted.
 *
 * @throws Error where the directory does not exist
 */
export function runsIn(configDir: string, file: string | undefined): boolean {
  try {
    return locking(configDir, () => file !== undefined && hasOpen(signedPid(configDir), file));
  } catch (error) {
    if (/is in use by another meshd/.test((error as Error).message)) return true;
    throw error;
  }
}

/** As far as the system tells it (Linux): the pid of a process that has ended may be that of another. */
function hasOpen(pid: string, file: string): boolean {
  try {
    const folder = path.join('/proc', pid, 'fd');
    const real = realpathSync(file);
    return readdirSync(folder).some((name) => readlinkSync(path.join(folder, name)) === real);
  } catch {
    return false;
  }
}
