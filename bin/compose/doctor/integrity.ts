import { existsSync } from 'node:fs';
import { hasCredentials } from '../../../storage/credentials.ts';
import { openForReading, RESTORE } from '../../../storage/sqlite/database.ts';
import { faultIn } from '../../../storage/sqlite/integrity.ts';
import { unreadableIn } from '../../../storage/sqlite/readable.ts';
import { type Check, failed, ok } from './check.ts';

/** Every page of the database, then every record, its past and the audit log. */
export const checkIntegrity: Check = ({ file, config }) => {
  if (file === undefined) return [ok('The store is in memory.')];
  if (!existsSync(file)) {
    if (!hasCredentials(config.configDir)) return [ok(`No control plane has run in ${config.configDir} yet.`)];
    return [failed(`${file} is not there: put it back if a volume is not mounted, or restore it: meshd restore FILE.`)];
  }
  const fault = faultIn(file);
  if (fault !== undefined) return [failed(`${fault}. ${RESTORE}`)];
  const database = openForReading(file);
  try {
    const unreadable = unreadableIn(database);
    return [
      unreadable === undefined
        ? ok('Every page of the database, every record and every entry of the audit log can be read.')
        : failed(`${unreadable} cannot be read. ${RESTORE}`),
    ];
  } finally {
    database.close();
  }
};
