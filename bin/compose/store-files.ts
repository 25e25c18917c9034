import { existsSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Loss } from '../../core/audit/losses.ts';
import { formatInstant } from '../../core/base/time.ts';
import { hasCredentials, loadCredentials } from '../../storage/credentials.ts';
import { buildKeyring } from '../../storage/keyring.ts';
import { headsIn } from '../../storage/log-heads.ts';
import { isServed, storeFile } from '../../storage/open.ts';
import { acceptLogs } from '../../storage/sqlite/accept.ts';
import { type BackupLabel, labelOf, writeBackup } from '../../storage/sqlite/backup.ts';
import { lossesOfFile } from '../../storage/sqlite/losses.ts';
import { putInPlace, requireBackup } from '../../storage/sqlite/restore.ts';
import { rewriteDatabase } from '../../storage/sqlite/rewrite.ts';
import { requireRoom } from './backup-room.ts';
import { loadConfig } from './config.ts';
import { locking } from './locking.ts';
import { storeUrl } from './store-url.ts';

interface BackupCommand {
  readonly configDir: string;
  readonly file: string;
  readonly withCredentials: boolean;
}

/** `meshd backup`, `meshd restore`, `meshd compact` (docs/reliability.md). */
export const storeFiles = {
  async backup({ configDir, file, withCredentials }: BackupCommand): Promise<string> {
    const from = requireFile(configDir);
    requireOther(file, from);
    requireRoom(from, file, loadConfig(process.env, configDir).env.MESH_STORE_RESERVE);
    if (!hasCredentials(configDir))
      throw new Error(`${configDir} has no credentials.json: name the --config-dir of meshd.`);
    const credentials = loadCredentials(configDir);
    const made = await writeBackup({
      from,
      to: path.resolve(file),
      now: Date.now(),
      installation: installationOf(configDir),
      heads: headsIn(configDir).all(),
      ...(withCredentials && { credentials: JSON.stringify(credentials) }),
    });
    const keys = withCredentials
      ? 'It holds the keys of the installation: whoever has it can be this control plane.'
      : 'It holds no keys: keep credentials.json elsewhere too, or give --with-credentials.';
    const read = `${made.bytes} bytes, with ${made.entries} entries of its logs`;
    return `${file} holds the database as of ${formatInstant(made.at)}: ${read}, read back.\n${keys}`;
  },

  async restore({ configDir, file }: Omit<BackupCommand, 'withCredentials'>): Promise<string> {
    mkdirSync(configDir, { recursive: true, mode: 0o700 });
    const to = databaseOf(configDir);
    return locking(configDir, async () => {
      requireBackup(file);
      requireOther(file, to);
      const label = labelOf(file);
      if (label) requireSame(configDir, label, file);
      const lost = (await lossesOfFile(file, headsIn(configDir).all())) ?? [];
      const { aside, credentials } = await putInPlace({ file, to, configDir, now: Date.now() });
      if (hasCredentials(configDir)) await acceptRestored(configDir, to, file, label);
      return [
        `${to} is the database of ${file}${label ? ` as of ${formatInstant(label.at)}` : ''}. Start meshd now.`,
        ...(aside === undefined ? [] : [`What was there before is kept as ${aside}.`]),
        ...lost.map(lostLine),
        ...(credentials ? ['credentials.json came with it.'] : []),
        ...(hasCredentials(configDir)
          ? []
          : [
              'There is no credentials.json: put it there first. Without it meshd makes new keys with --accept-loss alone, and every node has to join again.',
            ]),
        'What was revoked since is valid again: look at the audit log of before, and revoke it.',
      ].join('\n');
    });
  },

  async compact({ configDir }: Pick<BackupCommand, 'configDir'>): Promise<string> {
    const file = requireFile(configDir);
    return locking(configDir, async () => {
      const { before, after } = rewriteDatabase(file);
      return `${file} had ${before} bytes and has ${after}.`;
    });
  },
};

async function acceptRestored(configDir: string, to: string, file: string, label: BackupLabel | undefined) {
  const { logs } = buildKeyring(loadCredentials(configDir));
  const of = label ? `, of ${formatInstant(label.at)}` : '';
  const reason = `meshd restore ${path.basename(file)}${of}`;
  await acceptLogs({ path: to, logs, heads: headsIn(configDir), reason, now: Date.now() });
}

function lostLine({ workspace, had, has, until }: Loss): string {
  const last = formatInstant(until);
  if (has >= had) return `  ${workspace}: another history than the one of ${last}`;
  return `  ${workspace}: the last ${had - has} of ${had} entries, up to ${last}, are not in it`;
}

/** @throws Error where the backup is of another installation than the directory */
function requireSame(configDir: string, { installation }: BackupLabel, file: string): void {
  if (!hasCredentials(configDir) || installationOf(configDir) === installation) return;
  throw new Error(
    `${file} is of another installation than ${configDir}: move the credentials.json there away first, or restore to another --config-dir.`,
  );
}

/** What the control key names, as in the origins of the logs. */
export function installationOf(configDir: string): string {
  return buildKeyring(loadCredentials(configDir)).logs.originOf('');
}

/** By whatever name: a backup on top of its own database would take its place. @throws Error */
function requireOther(file: string, database: string): void {
  const [one, other] = [file, database].map((name) => statSync(name, { throwIfNoEntry: false }));
  if (one && other && one.dev === other.dev && one.ino === other.ino) {
    throw new Error(`${file} is the database itself: name another file.`);
  }
}

function databaseOf(configDir: string): string {
  const url = storeUrl(loadConfig(process.env, configDir));
  if (isServed(url)) {
    throw new Error(
      'MESH_STORE_URL names MongoDB, which has its own tools for this: mongodump --oplog and mongorestore --oplogReplay, or snapshots of its disks.',
    );
  }
  const file = storeFile(url);
  if (file === undefined) throw new Error('MESH_STORE_URL names a store in memory, which has no file.');
  return file;
}

function requireFile(configDir: string): string {
  const file = databaseOf(configDir);
  if (!existsSync(file)) throw new Error(`${file} is not there: name the --config-dir of meshd.`);
  return file;
}
