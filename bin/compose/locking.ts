import { existsSync } from 'node:fs';
import { takeLock } from '../../storage/directory-lock.ts';
import { giveToOwner } from '../../storage/owned-file.ts';

/** Works while no control plane runs in the directory, whose owner keeps what is made there. */
export function locking<T>(configDir: string, work: () => T): T {
  if (!existsSync(configDir)) throw new Error(`${configDir} is not there: name the --config-dir of meshd.`);
  const lock = takeLock(configDir);
  const release = () => {
    lock.release();
    giveToOwner(configDir, ['lock']);
  };
  let result: T;
  try {
    result = work();
  } catch (error) {
    release();
    throw error;
  }
  if (result instanceof Promise) return result.finally(release) as T;
  release();
  return result;
}
