import { existsSync, statSync } from 'node:fs';
import { readCheckpoint } from '../../core/audit/checkpoint.ts';
import type { LastingHeads, PublicLogKeys } from '../../core/audit/log-keys.ts';
import { checkpointsIn, missingIn } from '../../core/audit/losses.ts';
import type { Clock, Log } from '../../core/base/ports.ts';
import { formatInstant } from '../../core/base/time.ts';
import { backupsIn } from '../../storage/backup-files.ts';
import { credentialsFile, hasCredentials, loadCredentials } from '../../storage/credentials.ts';
import { buildKeyring } from '../../storage/keyring.ts';
import { headsIn } from '../../storage/log-heads.ts';
import { isServed, type OpenStore, openStore, storeFile } from '../../storage/open.ts';
import { acceptLogs } from '../../storage/sqlite/accept.ts';
import { hasEntries, readLogs } from '../../storage/sqlite/losses.ts';
import { RESCUED } from '../../storage/upkeep.ts';
import { lossLine, NOTHING_MISSING } from './loss-words.ts';
import { requireHeld } from './served-installation.ts';

export interface InstallationOptions {
  readonly configDir: string;
  readonly storeUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Bytes that are kept free on the disk of the store. */
  readonly reserve: number;
  /** Go on where the database has less than the installation had. */
  readonly acceptLoss?: boolean;
}

/**
 * Opens the store of an installation, whose credentials are made where the directory is new. It has to hold what is known
 * of it apart from it (docs/reliability.md).
 *
 * @throws Error that says what is missing since when, and what to do
 */
export async function openInstallation(options: InstallationOptions) {
  const { configDir, storeUrl, clock, log, reserve, acceptLoss = false } = options;
  const heads = headsIn(configDir);
  const file = storeFile(storeUrl);
  const before = hasCredentials(configDir) ? loadCredentials(configDir) : undefined;
  const logs = before && buildKeyring(before).logs;
  const isKeyless = !logs && file !== undefined && (hasEntries(file) || heads.all().length > 0);
  if (isKeyless && !acceptLoss) throw new Error(keyRefusal(file, heads, configDir));
  const missing = file === undefined || !logs ? [] : await missingLines(file, heads, logs);
  if (file !== undefined && missing.length > 0 && !acceptLoss) throw new Error(refusal(file, missing, configDir));
  if (acceptLoss && file !== undefined && !isKeyless && missing.length === 0) throw new Error(NOTHING_MISSING);
  let store = await openStore(storeUrl, { clock, log, reserve });
  try {
    if (isServed(storeUrl)) await requireHeld(store, { configDir, heads, acceptLoss, logs });
    if (file !== undefined && (isKeyless || missing.length > 0)) {
      await store.close();
      store = await openAccepted(options, file, heads);
    }
    // After the store: credentials without a database are those of an installation that has lost it.
    const credentials = before ?? loadCredentials(configDir);
    if (!heads.wereKept()) heads.begin(await checkpointsIn(store));
    return { store, credentials, heads };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** What a store lacks of what the installation had, a line each. @throws StoreError for a file that is damaged */
async function missingLines(file: string, heads: LastingHeads, logs: PublicLogKeys): Promise<string[]> {
  const isThere = statSync(file, { throwIfNoEntry: false })?.size;
  const losses = isThere ? await readLogs(file, (store) => missingIn(store, heads, logs)) : undefined;
  return losses === undefined ? [missingFile(file, heads)] : losses.map(lossLine);
}

async function openAccepted(
  { configDir, storeUrl, clock, log, reserve }: InstallationOptions,
  file: string,
  heads: LastingHeads,
): Promise<OpenStore> {
  const { logs } = buildKeyring(loadCredentials(configDir));
  const reason = 'meshd --accept-loss';
  const accepted = await acceptLogs({ path: file, logs, heads, reason, now: clock.now() });
  for (const { workspace, given } of accepted) log.error({ workspace, given }, 'what was lost is given up');
  return openStore(storeUrl, { clock, log, reserve });
}

function refusal(file: string, lines: readonly string[], configDir: string): string {
  const [newest] = backupsFor(file, configDir);
  const restore = newest
    ? `restore ${newest.at}:  meshd restore ${newest.name} --config-dir ${configDir}`
    : `restore a backup:  meshd restore FILE --config-dir ${configDir}`;
  return [
    `the database ${file} has less than this installation had, so nothing was started or changed:`,
    ...lines.map((line) => `  - ${line}`),
    'Put the file back if it is elsewhere (a volume that is not mounted, MESH_STORE_URL), or',
    `  ${restore}`,
    `  give up what is missing:  meshd --standalone --accept-loss --config-dir ${configDir}`,
  ].join('\n');
}

/** Sessions, nodes and the audit logs rest on the keys: others in their place would shut everyone out without a word. */
function keyRefusal(file: string, heads: LastingHeads, configDir: string): string {
  const isDatabaseThere = hasEntries(file);
  const what = isDatabaseThere
    ? `and the database ${file} was written with the keys in it`
    : `although log-heads beside it shows that it was; of the database ${missingFile(file, heads)}`;
  return [
    `${credentialsFile(configDir)} is not there, ${what}, so nothing was started or changed.`,
    `Put ${isDatabaseThere ? 'it' : 'both'} back if elsewhere (a volume that is not mounted, --config-dir), or`,
    `  restore a backup that was made --with-credentials:  meshd restore FILE --config-dir ${configDir}`,
    `  make new keys, with which every node has to join again:  meshd --standalone --accept-loss --config-dir ${configDir}`,
  ].join('\n');
}

function missingFile(file: string, heads: LastingHeads): string {
  const what = existsSync(file) ? 'is empty' : 'is not there';
  const known = heads.all();
  if (known.length === 0) return `the file ${what}, and credentials.json shows that there was one`;
  const entries = known.reduce((sum, { note }) => sum + (readCheckpoint(note)?.size ?? 0), 0);
  const last = formatInstant(Math.max(...known.map(({ at }) => at)));
  return `the file ${what}; on ${last} its logs had ${entries} entries`;
}

/** What can be restored, newest first. */
function backupsFor(file: string, configDir: string): { readonly name: string; readonly at: string }[] {
  const rescued = `${file}${RESCUED}`;
  const names = [...backupsIn(configDir), ...(existsSync(rescued) ? [rescued] : [])];
  return names
    .map((name) => ({ name, ms: statSync(name).mtimeMs }))
    .sort((a, b) => b.ms - a.ms)
    .map(({ name, ms }) => ({ name, at: `what was there on ${formatInstant(ms)}` }));
}
