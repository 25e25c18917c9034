import { existsSync } from 'node:fs';
import { hasCredentials } from '../../../storage/credentials.ts';
import { isServed } from '../../../storage/open.ts';
import { openForReading, RESTORE } from '../../../storage/sqlite/database.ts';
import { faultIn } from '../../../storage/sqlite/integrity.ts';
import { unreadableIn } from '../../../storage/sqlite/readable.ts';
import { storeUrl } from '../store-url.ts';
import { type Check, type Finding, failed, ok } from './check.ts';

/** Every page of the database, then every record, its past and the audit log. */
export const checkIntegrity: Check = async ({ file, config }) => {
  if (isServed(storeUrl(config))) return [await lookAt(storeUrl(config))];
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

/** What is written there is checked by the servers themselves. */
async function lookAt(url: string): Promise<Finding> {
  const { examineMongo } = await import('../../../storage/mongo/examine.ts');
  const { server, set, members, schema } = await examineMongo(url);
  const said = `MongoDB ${server} answers, a replica set ${set} of ${members}`;
  if (schema === 0) return ok(`${said}; no control plane has run on it yet.`);
  return ok(`${said}, with all indexes; back it up with mongodump --oplog, or by snapshots of its disks.`);
}
