import { existsSync } from 'node:fs';
import path from 'node:path';
import { loadCredentials, rotateLogKey } from '../../storage/credentials.ts';
import { buildKeyring } from '../../storage/keyring.ts';
import { headsIn } from '../../storage/log-heads.ts';
import { databaseAt } from '../../storage/open.ts';
import { locking } from './locking.ts';

/** The files of a control plane, for the commands that read or change them while it need not run. */
export const auditStore = {
  verifyDatabase: (file: string, workspace?: string) => databaseAt(file).verify(workspace),
  rotateKey: (configDir: string): string => locking(configDir, () => rotateLogKey(configDir, Date.now())),
  accept(options: { readonly configDir: string; readonly database?: string; readonly reason: string }) {
    const { configDir, reason, database = path.join(configDir, 'mesh.db') } = options;
    return locking(configDir, async () => {
      if (!existsSync(database)) throw new Error(`${database} is not there: name the file of the store by --database.`);
      if (!existsSync(path.join(configDir, 'credentials.json'))) {
        throw new Error(
          `${configDir} has no credentials.json: restore it, or start meshd --accept-loss once, which makes another.`,
        );
      }
      const { logs } = buildKeyring(loadCredentials(configDir));
      return databaseAt(database).accept({ logs, heads: headsIn(configDir), reason, now: Date.now() });
    });
  },
};
