import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { closeToOthers } from '../../../storage/file-mode.ts';
import { type Check, type Finding, ok, warning } from './check.ts';

/** Who can read what holds secrets, which is narrowed; and what a killed process left half written, which is removed. */
export const checkFiles: Check = ({ config: { configDir }, file, isRunning }) => {
  const secrets = [path.join(configDir, 'credentials.json'), ...(file === undefined ? [] : [file])];
  const findings = [
    ...secrets.filter((name) => existsSync(name)).flatMap((name) => closeToOthers(name).map(asFinding)),
    ...(isRunning ? [] : halfWritten(path.join(configDir, 'backups')).map(removed)),
  ];
  return findings.length > 0 ? findings : [ok('What holds secrets can be read by its owner alone.')];
};

function asFinding(said: string): Finding {
  return said.includes(': narrowed ') ? { ...ok(`${said}.`), repaired: true } : warning(`${said}.`);
}

function halfWritten(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => name.endsWith('.new')).map((name) => path.join(folder, name));
}

function removed(name: string): Finding {
  rmSync(name);
  return { ...ok(`${name} was a backup that is only half written: removed.`), repaired: true };
}
