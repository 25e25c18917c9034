import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { MeshError } from '../../core/base/errors.ts';

/** A file of this node's state could not be written, as on a full disk: it is as it was. */
export class StateNotWritten extends Error {
  override readonly name = 'StateNotWritten';

  constructor(file: string, cause: unknown) {
    super(`${file} cannot be written: ${(cause as Error).message}`, { cause });
  }
}

/**
 * Puts a file that only its owner can read in the place of the one before, in one step: after a crash there is the old one
 * or the new one, whole. Its directory is made if need be.
 */
export function replacePrivateFile(name: string, text: string): void {
  const directory = path.dirname(name);
  makePrivateDirectory(directory);
  const draft = `${name}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = openSync(draft, 'wx', 0o600);
    try {
      // All of it: of what does not fit on a disk, writeSync leaves out the rest without an error.
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, name);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new StateNotWritten(name, error);
  }
  syncDirectory(directory);
}

/**
 * Makes a directory that only its owner can enter; one that is there already is narrowed to its owner, unless it is of others too.
 *
 * @throws MeshError `invalid_input` where a link of another user leads to what is not theirs, or where others write in one of theirs
 */
export function makePrivateDirectory(directory: string): void {
  refuseForeignLinks(directory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // A directory that becomes a link from here on is not opened.
  const follows = lstatSync(directory).isSymbolicLink() ? 0 : constants.O_NOFOLLOW;
  const handle = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | follows);
  try {
    const { mode } = fstatSync(handle);
    if (!isShared(directory, mode)) fchmodSync(handle, 0o700);
    else if ((mode & OTHERS_WRITE) !== 0)
      throw new MeshError(
        'invalid_input',
        `${directory} is of others too: name a directory of its own, such as one in it.`,
      );
  } finally {
    closeSync(handle);
  }
}

const STICKY = 0o1000;
const OTHERS_WRITE = 0o022;

/** As /tmp, /etc and homes are: a host on which nobody else can enter them works no more. No directory of ours holds another. */
function isShared(directory: string, mode: number): boolean {
  if ((mode & 0o077) === 0) return false;
  return (mode & STICKY) !== 0 || readdirSync(directory, { withFileTypes: true }).some((one) => one.isDirectory());
}

/** Keeps root, in a directory of another user, from being led out of it on any part of its path. */
function refuseForeignLinks(directory: string): void {
  const trusted = [0, process.geteuid?.()];
  for (let name = path.resolve(directory); name !== path.dirname(name); name = path.dirname(name)) {
    const link = lstatSync(name, { throwIfNoEntry: false });
    if (!link?.isSymbolicLink() || trusted.includes(link.uid)) continue;
    if (statSync(name, { throwIfNoEntry: false })?.uid === link.uid) continue;
    const message = `${name} is a link that user ${link.uid} made to what is not theirs: name the directory itself.`;
    throw new MeshError('invalid_input', message);
  }
}

/** The rename itself is on disk only when its directory is. */
function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
