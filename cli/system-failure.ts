import { existsSync } from 'node:fs';
import path from 'node:path';

/** The primary SQLite codes that concern the location of the file. */
const SQLITE: Readonly<Record<number, string>> = { 8: 'EROFS', 10: 'EIO', 13: 'ENOSPC', 14: 'SQLITE_CANTOPEN' };

/**
 * Returns the fault, its location and the remedy for an error of the system; undefined for other errors, and for those without
 * a path.
 */
export function systemFailure(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, path: place, errcode } = error as NodeJS.ErrnoException & { readonly errcode?: number };
  if (place === undefined) return undefined;
  switch (code === 'ERR_SQLITE_ERROR' ? SQLITE[(errcode ?? 0) & 0xff] : code) {
    case 'ENOENT':
      return `${missingPath(place)} is not there: make it, or name another place.`;
    case 'ENOTDIR':
    case 'EEXIST':
      return `${place} cannot be made: something else stands in its way. Move that, or name another place.`;
    case 'EISDIR':
      return `${place} is a directory: name a file.`;
    case 'EACCES':
    case 'EPERM':
      return `this user may not use ${place}: run as its owner, or give it to this user (chown).`;
    case 'EROFS':
      return `${place} cannot be written: its disk is read-only. Mount it for writing, or name another place.`;
    case 'ENOSPC':
    case 'EDQUOT':
      return `${place} cannot be written: its disk, or the share of this user, is full. Make room there, or name another place.`;
    case 'EIO':
      return `${place} cannot be read or written: its disk fails. Look at the log of the kernel.`;
    case 'EMFILE':
    case 'ENFILE':
      return `${place} cannot be opened: too many files are open. Allow more (ulimit -n, LimitNOFILE).`;
    case 'SQLITE_CANTOPEN':
      return `${place} cannot be opened or made: see that its directory is there, can be written by this user, and is on no read-only disk.`;
    default:
      return undefined;
  }
}

/** The outermost directory that is not there, or the file itself. */
function missingPath(place: string): string {
  const parent = path.dirname(place);
  return existsSync(parent) || parent === place ? place : missingPath(parent);
}
