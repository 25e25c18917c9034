import {
  accessSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { type NamespaceFacts, SETTINGS } from './forbidden.ts';
import type { ProgramHost } from './places.ts';

/** The kernel reads no more of a script's first line. */
const HEAD_BYTES = 256;

/** The file system of this host. */
export const hostFiles: ProgramHost = {
  kindOf(file) {
    try {
      const stat = lstatSync(file);
      if (stat.isSymbolicLink()) return 'link';
      if (stat.isDirectory()) return 'directory';
      return stat.isFile() ? 'file' : 'other';
    } catch {
      // It is not there, or not to be seen by this user.
      return undefined;
    }
  },
  linkTarget: (file) => readlinkSync(file),
  real: (file) => realpathSync(file),
  isExecutable(file) {
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  },
  head(file) {
    try {
      const fd = openSync(file, 'r');
      try {
        const bytes = Buffer.alloc(HEAD_BYTES);
        return bytes.toString('latin1', 0, readSync(fd, bytes));
      } finally {
        closeSync(fd);
      }
    } catch {
      return '';
    }
  },
};

/** Returns the homes of people on this host, without symbolic links. */
export function homesOf(accounts = readText('/etc/passwd')): string[] {
  const named = accounts.split('\n').map((line) => line.split(':'));
  // Services have homes such as /var/lib/x, /bin and /.
  const people = named.filter(([, , uid]) => uid === '0' || Number(uid) >= 1_000).map((fields) => fields[5] ?? '');
  const homes = [...people, homedir(), '/root', '/home'].filter((home) => path.isAbsolute(home) && home !== '/');
  return [...new Set(homes.flatMap((home) => [home, realOf(home)]))];
}

function realOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

/** @returns what this host says of namespaces */
export function namespaceFacts(isRoot: boolean, hasPrograms: boolean): NamespaceFacts {
  const settings = Object.fromEntries(
    SETTINGS.map((name) => [name, readText(`/proc/sys/${name}`).trim()]).filter(([, value]) => value !== ''),
  );
  const isFiltered = /^Seccomp:\s*2$/m.test(readText('/proc/self/status'));
  return { isRoot, hasPrograms, settings, isFiltered };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
