import { hasCredentials } from '../../../storage/credentials.ts';
import type { DatabaseServers } from '../../../storage/engine.ts';
import { storeAt } from '../../../storage/open.ts';
import { startRefusal } from '../check-installation.ts';
import type { Config } from '../config.ts';
import { keyLocationOf } from '../installation.ts';
import { restoreAdvice } from '../refusals.ts';
import { servedStartRefusal } from '../served-installation.ts';
import { storeUrl } from '../store-url.ts';
import { type Check, type Finding, failed, ok } from './check.ts';

/** Checks what a start checks; then every page of the database, every record, its history and the audit log. */
export const checkIntegrity: Check = async ({ file, config }) => {
  const { configDir } = config;
  const refusal = await startRefusal(configDir, file);
  if (refusal !== undefined) return [failed(`No meshd starts here as it is: ${refusal}`)];
  const { servers } = storeAt(storeUrl(config));
  if (servers) return [await inspect(servers, config)];
  if (file === undefined) return [ok('The store is in memory.')];
  if (!hasCredentials(configDir) && !(await file.hasEntries()))
    return [ok(`No control plane has run in ${configDir} yet.`)];
  const fault = await file.fault();
  if (fault !== undefined) return [failed(`${fault}. ${await restoreAdvice({ configDir, file })}`)];
  const programs = await file.programFaults();
  if (programs.length > 0) {
    const advice = await restoreAdvice({ configDir, file });
    return programs.map((fault) => failed(`${fault} Somebody else changed the database. ${advice}`));
  }
  return [ok('Every page of the database, every record and every entry of the audit log can be read.')];
};

/** Checks what a start checks; the servers check the stored data themselves. */
async function inspect(servers: DatabaseServers, config: Config): Promise<Finding> {
  const { servers: said, isUsed, backup } = await servers.examine();
  const refusal = await servedStartRefusal(keyLocationOf(config), storeUrl(config));
  if (refusal !== undefined) return failed(`No meshd starts here as it is: ${refusal}`);
  if (!isUsed) return ok(`${said}; no control plane has run on it yet.`);
  return ok(`${said}, with all indexes and all that this installation is known to have had; back it up ${backup}.`);
}
