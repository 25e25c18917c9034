import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';

/** Backups that the control plane makes by itself: `<configDir>/backups/mesh-<UTC>.db`. */

const FOLDER = 'backups';
const NAME = /^mesh-\d{8}T\d{6}Z\.db$/;
/** The name of an unfinished backup, or of a file that SQLite keeps beside it. */
const DRAFT = /^mesh-\d{8}T\d{6}Z\.db\.new(?:-journal|-wal|-shm)?$/;

/** Newest first. */
export function backupsIn(configDir: string): string[] {
  const folder = path.join(configDir, FOLDER);
  if (!statSync(folder, { throwIfNoEntry: false })) return [];
  const names = readdirSync(folder).filter((name) => NAME.test(name));
  return names
    .sort()
    .reverse()
    .map((name) => path.join(folder, name));
}

/** Where one that is made now is to stand. */
export function backupAt(configDir: string, now: number): string {
  const folder = path.join(configDir, FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stamp = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return path.join(folder, `mesh-${stamp}.db`);
}

/** When a backup was begun, as its name says. */
export function backupTime(file: string): number {
  const [, y, mo, d, h, mi, s] = /mesh-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/.exec(file) ?? [];
  return Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`);
}

/** Returns the unfinished backups that a killed process left behind. Other files in the folder are ignored. */
export function halfWrittenIn(configDir: string): string[] {
  const folder = path.join(configDir, FOLDER);
  if (!statSync(folder, { throwIfNoEntry: false })) return [];
  const names = readdirSync(folder).filter((name) => DRAFT.test(name));
  return names.map((name) => path.join(folder, name));
}

/** Removes all but the newest, and what was left half written. */
export function dropOldBackups(configDir: string, keep: number): void {
  for (const file of [...backupsIn(configDir).slice(keep), ...halfWrittenIn(configDir)]) rmSync(file, { force: true });
}
