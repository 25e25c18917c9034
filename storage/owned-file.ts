import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lchownSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

const PRIVATE = 0o600;

/**
 * Puts a file in the place of the one before, whole or not at all, and durable. It keeps the owner and the mode of the one
 * before; a first one is its owner's alone, who is the owner of the directory: a command that root runs leaves nothing
 * that the user of `meshd` cannot read.
 */
export function replaceOwned(name: string, text: string): void {
  const before = statSync(name, { throwIfNoEntry: false });
  const directory = path.dirname(name);
  const { uid, gid } = before ?? statSync(directory);
  const draft = `${name}.new`;
  try {
    rmSync(draft, { force: true });
    const file = openSync(draft, 'wx', PRIVATE);
    try {
      if (mayGive()) fchownSync(file, uid, gid);
      fchmodSync(file, before === undefined ? PRIVATE : before.mode & 0o777);
      // All of it: of what does not fit on a disk, writeSync leaves out the rest without an error.
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, name);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  // The rename itself is on disk only when its directory is.
  makeDurable(directory);
}

/** Puts a file, or the names in a directory, on disk. */
export function makeDurable(name: string): void {
  const handle = openSync(name, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Gives files, where they are there, to the owner of their directory. */
export function giveToOwner(directory: string, names: readonly string[]): void {
  if (!mayGive()) return;
  const { uid, gid } = statSync(directory);
  for (const name of names) {
    const file = path.join(directory, name);
    // Changes the owner of a symbolic link itself, not of its target.
    if (lstatSync(file, { throwIfNoEntry: false })) lchownSync(file, uid, gid);
  }
}

function mayGive(): boolean {
  return process.geteuid?.() === 0;
}
