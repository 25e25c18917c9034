import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';

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
      writeSync(file, text);
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

/** Makes a directory that only its owner can enter; one that is there already is narrowed to its owner. */
export function makePrivateDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
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
