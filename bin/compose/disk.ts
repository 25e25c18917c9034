import { statfsSync, statSync } from 'node:fs';
import path from 'node:path';

/** The disk that the store is on. */
export interface Disk {
  /** Free for this user, bytes; undefined where it cannot be asked, or there is none. */
  free(): number | undefined;
  /** Kept for what works while the disk is full, bytes. */
  readonly reserve: number;
  /** Returns true if less than the reserve, or less than a share of it, is free. */
  isFull(share?: number): boolean;
  /** Bytes of the files of the store. */
  sizes(): { readonly database: number; readonly wal: number };
}

/** An answer is good for so long: a flood of writes asks the system once. */
const ANSWER_MS = 250;

/** @param file undefined for a store that is in memory */
export function diskOf(file: string | undefined, reserve: number): Disk {
  let asked = { at: Number.NEGATIVE_INFINITY, free: undefined as number | undefined };
  const free = () => {
    const now = performance.now();
    if (now - asked.at >= ANSWER_MS) asked = { at: now, free: file === undefined ? undefined : freeAt(file) };
    return asked.free;
  };
  const sizeOf = (name: string | undefined) =>
    name === undefined ? 0 : (statSync(name, { throwIfNoEntry: false })?.size ?? 0);
  return {
    free,
    reserve,
    isFull: (share = 1) => (free() ?? Number.POSITIVE_INFINITY) < reserve * share,
    sizes: () => ({ database: sizeOf(file), wal: sizeOf(file && `${file}-wal`) }),
  };
}

function freeAt(file: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(path.dirname(file));
    return bavail * bsize;
  } catch {
    return undefined;
  }
}
