import { existsSync, mkdirSync, statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { readCheckpoint } from '../../core/audit/checkpoint.ts';
import { checkpointsIn, type Loss, lossesIn } from '../../core/audit/losses.ts';
import { formatInstant } from '../../core/base/time.ts';
import { hasCredentials, loadCredentials } from '../../storage/credentials.ts';
import type { BackupLabel, DatabaseFile } from '../../storage/database-file.ts';
import { buildKeyring } from '../../storage/keyring.ts';
import { linksFollowed } from '../../storage/links.ts';
import { headsIn } from '../../storage/log-heads.ts';
import { storeAt } from '../../storage/open.ts';
import { loadConfig } from './config.ts';
import { locking } from './locking.ts';
import { storeUrl } from './store-url.ts';

const MB = 1_048_576;

interface BackupCommand {
  readonly configDir: string;
  readonly file: string;
  readonly withCredentials: boolean;
}

/** `meshd backup`, `meshd restore`, `meshd compact` (docs/reliability.md). */
export const storeFiles = {
  async backup({ configDir, file, withCredentials }: BackupCommand): Promise<string> {
    const from = requireFile(configDir);
    requireOther(file, from.path);
    await from.at(file).requireReplaceable();
    requireRoom(from.path, file, loadConfig(process.env, configDir).env.MESH_STORE_RESERVE);
    if (!hasCredentials(configDir))
      throw new Error(`${configDir} has no credentials.json: name the --config-dir of meshd.`);
    const credentials = loadCredentials(configDir);
    const made = await from.backUp({
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
      requireOther(file, to.path);
      const backup = to.at(file);
      await backup.requireBackup();
      const label = await backup.label();
      const installations = label ? [label.installation] : ((await backup.readLogs(installationsIn)) ?? []);
      requireSame(configDir, installations, file);
      const lost = (await backup.readLogs((store) => lossesIn(store, headsIn(configDir).all()))) ?? [];
      const { aside, credentials } = await to.restore({ from: file, configDir, now: Date.now() });
      if (hasCredentials(configDir)) await acceptRestored(configDir, to, file, label);
      return [
        `${to.path} is the database of ${file}${label ? ` as of ${formatInstant(label.at)}` : ''}. Start meshd now.`,
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
      const { before, after } = await file.rewrite();
      return `${file.path} had ${before} bytes and has ${after}.`;
    });
  },
};

async function acceptRestored(configDir: string, to: DatabaseFile, file: string, label: BackupLabel | undefined) {
  const { logs } = buildKeyring(loadCredentials(configDir));
  const of = label ? `, of ${formatInstant(label.at)}` : '';
  const reason = `meshd restore ${path.basename(file)}${of}`;
  await to.accept({ logs, heads: headsIn(configDir), reason, now: Date.now() });
}

function lostLine({ workspace, had, has, until }: Loss): string {
  const last = formatInstant(until);
  if (has >= had) return `  ${workspace}: another history than the one of ${last}`;
  return `  ${workspace}: the last ${had - has} of ${had} entries, up to ${last}, are not in it`;
}

/** Returns the installations whose logs a copy holds, by its checkpoints; for a copy without a label. */
async function installationsIn(store: Parameters<typeof checkpointsIn>[0]): Promise<string[]> {
  const signed = [...(await checkpointsIn(store))];
  return signed.flatMap(([workspace, note]) => readCheckpoint(note)?.origin.slice(0, -workspace.length) ?? []);
}

/** @param installations none of a copy in which nothing was signed yet @throws Error where it is of another installation than the directory */
function requireSame(configDir: string, installations: readonly string[], file: string): void {
  if (installations.length === 0 || !hasCredentials(configDir)) return;
  if (installations.includes(installationOf(configDir))) return;
  throw new Error(
    `${file} is of another installation than ${configDir}: move the credentials.json there away first, or restore to another --config-dir.`,
  );
}

/** Returns the installation that the control key names, as in the origins of the logs. */
function installationOf(configDir: string): string {
  return buildKeyring(loadCredentials(configDir)).logs.originOf('');
}

/** By whatever name, and also where it is not there now: a backup would take the place of the database, or of its log. @throws Error */
function requireOther(file: string, database: string): void {
  const own = ['', '-wal', '-shm'].map((end) => `${database}${end}`);
  const found = own.find((name) => isSame(file, name));
  if (found === undefined) return;
  const what = found === database ? 'the database itself' : 'a part of the database itself';
  throw new Error(`${file} is ${what}: name another file.`);
}

function isSame(file: string, other: string): boolean {
  if (linksFollowed(file) === linksFollowed(other)) return true;
  const [one, two] = [file, other].map((name) => statSync(name, { throwIfNoEntry: false }));
  return one !== undefined && two !== undefined && one.dev === two.dev && one.ino === two.ino;
}

function databaseOf(configDir: string): DatabaseFile {
  const { file, servers } = storeAt(storeUrl(loadConfig(process.env, configDir)));
  if (servers) throw new Error(`MESH_STORE_URL names ${servers.ownTools}`);
  if (file === undefined) throw new Error('MESH_STORE_URL names a store in memory, which has no file.');
  // A restored file replaces the target of a link, not the link.
  return file.at(linksFollowed(file.path));
}

function requireFile(configDir: string): DatabaseFile {
  const file = databaseOf(configDir);
  if (!existsSync(file.path)) throw new Error(`${file.path} is not there: name the --config-dir of meshd.`);
  return file;
}

/** A backup on the disk of the store leaves the reserve, without which new records are refused. @throws Error */
function requireRoom(from: string, to: string, reserveMb: number): void {
  const directory = path.dirname(path.resolve(to));
  if (statSync(directory, { throwIfNoEntry: false })?.dev !== statSync(from).dev) return;
  const { bavail, bsize } = statfsSync(directory);
  const size = (name: string) => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  const [free, takes] = [bavail * bsize, size(from) + size(`${from}-wal`)];
  if (free - takes >= reserveMb * MB) return;
  const [freeMb, takesMb] = [Math.floor(free / MB), Math.ceil(takes / MB)];
  throw new Error(
    `${to} would be on the disk of the database, where ${freeMb} MB are free and it takes up to ${takesMb} MB: less than the reserve of ${reserveMb} MB would be left (MESH_STORE_RESERVE), below which new records are refused. Make room, or name a place on another disk.`,
  );
}
