import { hasCredentials } from '../../../storage/credentials.ts';
import { isServed } from '../../../storage/open.ts';
import { faultIn } from '../../../storage/sqlite/integrity.ts';
import { hasEntries } from '../../../storage/sqlite/losses.ts';
import { programFaultsIn } from '../../../storage/sqlite/programs.ts';
import type { Config } from '../config.ts';
import { whyNoStart } from '../judge-installation.ts';
import { keyPlaceOf } from '../known-credentials.ts';
import { restoreAdvice } from '../refusals.ts';
import { whyNoStartServed } from '../served-installation.ts';
import { storeUrl } from '../store-url.ts';
import { type Check, type Finding, failed, ok } from './check.ts';

/** Checks what a start checks; then every page of the database, every record, its history and the audit log. */
export const checkIntegrity: Check = async ({ file, config }) => {
  const { configDir } = config;
  const refusal = await whyNoStart(configDir, file);
  if (refusal !== undefined) return [failed(`No meshd starts here as it is: ${refusal}`)];
  if (isServed(storeUrl(config))) return [await lookAt(config)];
  if (file === undefined) return [ok('The store is in memory.')];
  if (!hasCredentials(configDir) && !hasEntries(file)) return [ok(`No control plane has run in ${configDir} yet.`)];
  const fault = faultIn(file);
  if (fault !== undefined) return [failed(`${fault}. ${await restoreAdvice({ configDir, file })}`)];
  const programs = programFaultsIn(file);
  if (programs.length > 0) {
    const advice = await restoreAdvice({ configDir, file });
    return programs.map((fault) => failed(`${fault} Somebody else changed the database. ${advice}`));
  }
  return [ok('Every page of the database, every record and every entry of the audit log can be read.')];
};

/** Checks what a start checks; the servers check the stored data themselves. */
async function lookAt(config: Config): Promise<Finding> {
  const url = storeUrl(config);
  const { examineMongo } = await import('../../../storage/mongo/examine.ts');
  const { server, set, members, schema } = await examineMongo(url);
  const said = `MongoDB ${server} answers, a replica set ${set} of ${members}`;
  const refusal = await whyNoStartServed(keyPlaceOf(config), url);
  if (refusal !== undefined) return failed(`No meshd starts here as it is: ${refusal}`);
  if (schema === 0) return ok(`${said}; no control plane has run on it yet.`);
  return ok(
    `${said}, with all indexes and all that this installation is known to have had; back it up with mongodump --oplog, or by snapshots of its disks.`,
  );
}
