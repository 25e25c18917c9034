import { existsSync } from 'node:fs';
import { rotateLogKey } from '../../storage/credentials.ts';
import { lockDirectory } from '../../storage/directory-lock.ts';
import { giveToOwner } from '../../storage/owned-file.ts';
import { verifyDatabase } from '../../storage/sqlite/verify/verify.ts';

/** The files of a control plane, for the commands that read or change them while it need not run. */
export const auditStore = {
  verifyDatabase,
  rotateKey(configDir: string): string {
    if (!existsSync(configDir)) throw new Error(`${configDir} is not there: name the --config-dir of meshd.`);
    const lock = lockDirectory(configDir);
    try {
      return rotateLogKey(configDir, Date.now());
    } finally {
      lock.release();
      giveToOwner(configDir, ['lock', 'meshd.pid']);
    }
  },
};
