import { existsSync, statSync } from 'node:fs';
import { readCheckpoint } from '../../core/audit/checkpoint.ts';
import type { DurableHeads, PublicLogKeys } from '../../core/audit/log-keys.ts';
import { missingIn } from '../../core/audit/losses.ts';
import { StoreError } from '../../core/base/ports.ts';
import { formatInstant } from '../../core/base/time.ts';
import { readCredentials } from '../../storage/credentials.ts';
import type { DatabaseFile } from '../../storage/database-file.ts';
import { buildKeyring } from '../../storage/keyring.ts';
import { headsIn } from '../../storage/log-heads.ts';
import { lossLine, lostEntryCount } from './loss-text.ts';
import { damageRefusal, type InstallationFiles, keyRefusal, lossRefusal, type MissingData } from './refusals.ts';

/**
 * Checks that a control plane can be started on an installation (docs/reliability.md). Nothing is written.
 *
 * @param file of the database; undefined for one in memory
 * @returns why a start needs --accept-loss, and the alternatives; undefined where nothing is missing
 * @throws Error where a start is refused even with --accept-loss
 */
export async function checkInstallation(
  configDir: string,
  file: DatabaseFile | undefined,
): Promise<string | undefined> {
  if (file !== undefined) {
    const moved = await explaining({ configDir, file }, () => file.whyNotInUse());
    if (moved !== undefined) throw new Error(moved);
  }
  return checkLosses(configDir, file);
}

/** Holds an installation against what is known of it apart from its database. @throws Error as `checkInstallation` */
export async function checkLosses(configDir: string, file: DatabaseFile | undefined): Promise<string | undefined> {
  const credentials = readCredentials(configDir);
  const logs = credentials && buildKeyring(credentials).logs;
  if (file === undefined) return undefined;
  const place = { configDir, file };
  const heads = headsIn(configDir);
  return explaining(place, async () => {
    const missing = logs ? await missingData(file, heads, logs) : undefined;
    if (logs) return missing && lossRefusal(place, missing);
    if (await file.hasEntries()) return keyRefusal(place);
    return heads.all().length > 0 ? keyRefusal(place, missingFile(file, heads)) : undefined;
  });
}

/** Why no control plane starts there as it is, and what to do. */
export async function startRefusal(configDir: string, file: DatabaseFile | undefined): Promise<string | undefined> {
  try {
    return await checkInstallation(configDir, file);
  } catch (error) {
    return error instanceof StoreError ? error.subject : (error as Error).message;
  }
}

/** Says of a file that turns out to be damaged what it can be restored from. */
export async function explaining<T>(place: InstallationFiles, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const what = place.file.damageIn(error);
    if (what === undefined) throw error;
    throw new Error(await damageRefusal(place, what), { cause: error });
  }
}

async function missingData(
  file: DatabaseFile,
  heads: DurableHeads,
  logs: PublicLogKeys,
): Promise<MissingData | undefined> {
  const isThere = statSync(file.path, { throwIfNoEntry: false })?.size;
  const losses = isThere ? await file.readLogs((store) => missingIn(store, heads, logs)) : undefined;
  if (losses === undefined) return missingFile(file, heads);
  if (losses.length === 0) return undefined;
  const known = losses.flatMap((loss) => ('head' in loss ? [] : [loss]));
  const entries = known.length === losses.length ? lostEntryCount(known) : undefined;
  return { lines: losses.map(lossLine), entries };
}

function missingFile(file: DatabaseFile, heads: DurableHeads): MissingData {
  const what = existsSync(file.path) ? 'is empty' : 'is not there';
  const known = heads.all();
  if (known.length === 0) {
    return { lines: [`the file ${what}, and credentials.json shows that there was one`], entries: undefined };
  }
  const entries = known.reduce((sum, { note }) => sum + (readCheckpoint(note)?.size ?? 0), 0);
  const last = formatInstant(Math.max(...known.map(({ at }) => at)));
  return { lines: [`the file ${what}; on ${last} its logs had ${entries} entries`], entries };
}
