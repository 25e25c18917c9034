import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { formatInstant } from '../../../core/base/time.ts';
import { halfWrittenIn } from '../../../storage/backup-files.ts';
import { closeToOthers } from '../../../storage/file-mode.ts';
import { linksFollowed } from '../../../storage/links.ts';
import { rescuedBeside } from '../../../storage/rescued-files.ts';
import { type Check, type Finding, ok, warning } from './check.ts';

/**
 * Checks who can read the files with secrets, and narrows their permissions; removes backups that a killed process left
 * unfinished.
 */
export const checkFiles: Check = ({ config: { configDir }, file, isRunning }) => {
  const secrets = [path.join(configDir, 'credentials.json'), ...(file === undefined ? [] : [file.path])];
  const findings = [
    ...secrets.filter((name) => existsSync(name)).flatMap((name) => closeToOthers(name).map(asFinding)),
    ...(isRunning ? [] : halfWrittenIn(configDir).map(removedFinding)),
  ];
  const seen = findings.length > 0 ? findings : [ok('What holds secrets can be read by its owner alone.')];
  return file === undefined ? seen : [...seen, ...copiesBeside(file.path).map(olderCopyFinding)];
};

/** Returns the rescued copies of a removed database, and the copies from before a restore. */
function copiesBeside(file: string): string[] {
  const own = linksFollowed(file);
  const [folder, name] = [path.dirname(own), path.basename(own)];
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const isCopy = (each: string) => each.startsWith(`${name}.before-restore-`) && !/-(wal|shm)$/.test(each);
  return [...rescuedBeside(own), ...names.filter(isCopy).map((each) => path.join(folder, each))];
}

function olderCopyFinding(name: string): Finding {
  const { size, mtimeMs } = statSync(name);
  const of = `${size} bytes, of ${formatInstant(mtimeMs)}`;
  return ok(`${name} (${of}) is an older copy of the database: meshd does not use it, and it is as secret.`);
}

function asFinding(said: string): Finding {
  return said.includes(': narrowed ') ? { ...ok(`${said}.`), repaired: true } : warning(`${said}.`);
}

function removedFinding(name: string): Finding {
  rmSync(name, { force: true });
  return { ...ok(`${name} was a backup that is only half written: removed.`), repaired: true };
}
