import { statSync } from 'node:fs';
import { lossesIn } from '../../core/audit/losses.ts';
import { formatInstant } from '../../core/base/time.ts';
import { backupsIn } from '../../storage/backup-files.ts';
import { credentialsFile } from '../../storage/credentials.ts';
import type { DatabaseFile } from '../../storage/database-file.ts';
import { headsIn } from '../../storage/log-heads.ts';
import { rescuedBeside } from '../../storage/rescued-files.ts';
import { lostEntryCount } from './loss-text.ts';

export interface InstallationFiles {
  readonly configDir: string;
  readonly file: DatabaseFile;
}

/** The data that a database lacks although the installation had it. */
export interface MissingData {
  readonly lines: readonly string[];
  /** The number of missing log entries; undefined where it is unknown. */
  readonly entries: number | undefined;
}

/** A copy that can be restored. */
interface Copy {
  readonly name: string;
  readonly at: number;
  /** Entries that the installation had and the copy has not. */
  readonly lacks: number;
}

/** Each choice with what it costs, the cheapest first. */
export async function lossRefusal(place: InstallationFiles, { lines, entries }: MissingData): Promise<string> {
  const { file, configDir } = place;
  const copy = await bestCopy(place);
  const given = entries === undefined ? 'whatever is missing' : `${entriesText(entries)} for good`;
  const accept = `  give up ${given}:  meshd --standalone --accept-loss --config-dir ${configDir}`;
  const restore = copy
    ? `  restore ${costOf(copy, entries)}:  ${restoring(copy, configDir)}`
    : `  restore a backup that is elsewhere:  meshd restore FILE --config-dir ${configDir}`;
  const isDearer = copy !== undefined && entries !== undefined && copy.lacks > entries;
  return [
    `the database ${file.path} has less than this installation had, so nothing was started or changed:`,
    ...lines.map((line) => `  - ${line}`),
    'If it is elsewhere put it back (a volume that is not mounted), or name it (MESH_STORE_URL, for MongoDB too); else, what costs least first:',
    ...(isDearer ? [accept, restore] : [restore, accept]),
  ].join('\n');
}

const ONE_OF_SEVERAL =
  ' set MESH_STORE_URL and MESH_KEYS_FILE if this is one of several control planes (docs/cluster.md),';

/**
 * Sessions, nodes and the audit logs rest on the keys: others in their place would shut everyone out without a word.
 *
 * @param gone what is known of a database that is not there either
 */
export function keyRefusal({ configDir, file }: InstallationFiles, gone?: MissingData): string {
  const what = gone
    ? `although log-heads beside it shows that it was; of the database ${gone.lines.join()}`
    : `and the database ${file.path} was written with the keys in it`;
  return [
    `${credentialsFile(configDir)} is not there, ${what}, so nothing was started or changed.`,
    `Put ${gone ? 'both' : 'it'} back if elsewhere (a volume that is not mounted, --config-dir),${gone ? ONE_OF_SEVERAL : ''} or`,
    `  restore a backup that was made --with-credentials:  meshd restore FILE --config-dir ${configDir}`,
    `  make new keys, with which every node has to join again:  meshd --standalone --accept-loss --config-dir ${configDir}`,
  ].join('\n');
}

export async function damageRefusal(place: InstallationFiles, what: string): Promise<string> {
  return `${what}, so nothing was started or changed. ${await restoreAdvice(place)}`;
}

/** Returns how to restore a damaged database; the restore keeps the remains of the old one. */
export async function restoreAdvice(place: InstallationFiles): Promise<string> {
  const copy = await bestCopy(place);
  return copy
    ? `Restore ${costOf(copy)}: ${restoring(copy, place.configDir)}`
    : `Restore it from a backup: meshd restore FILE --config-dir ${place.configDir}`;
}

const restoring = ({ name }: Copy, configDir: string) => `meshd restore ${name} --config-dir ${configDir}`;

/** @param missing entries that the database lacks itself */
function costOf({ at, lacks }: Copy, missing?: number): string {
  const what = `what was there on ${formatInstant(at)}`;
  if (lacks === 0) return `${what}, which lacks nothing that is known of`;
  const more = missing === undefined ? 0 : lacks - missing;
  return `${what}, which gives up ${entriesText(lacks)}${more > 0 ? `, ${more} more than the database lacks` : ''}`;
}

function entriesText(entries: number): string {
  return entries === 1 ? '1 entry' : `${entries} entries`;
}

/** Returns the newest of the readable copies that lack the fewest entries. */
async function bestCopy({ file, configDir }: InstallationFiles): Promise<Copy | undefined> {
  const heads = headsIn(configDir).all();
  const copies: Copy[] = [];
  for (const name of [...backupsIn(configDir), ...rescuedBeside(file.path)]) {
    // Copies that are damaged or were never written to are skipped.
    const losses = await file
      .at(name)
      .readLogs((store) => lossesIn(store, heads))
      .catch(() => undefined);
    if (losses) copies.push({ name, at: statSync(name).mtimeMs, lacks: lostEntryCount(losses) });
  }
  return copies.sort((a, b) => a.lacks - b.lacks || b.at - a.at)[0];
}
