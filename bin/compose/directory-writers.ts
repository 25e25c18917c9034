import { type Stats, statSync } from 'node:fs';

const OTHERS_WRITE = 0o022;
const ROOT = 0;

/** Tells whether root and the user of this process alone can write what is there; always so where files have no owners. */
export function hasTrustedWriters({ uid, mode }: Pick<Stats, 'uid' | 'mode'>): boolean {
  const user = process.geteuid?.();
  return user === undefined || ((uid === ROOT || uid === user) && (mode & OTHERS_WRITE) === 0);
}

/** Tells whether the group or everyone can write in a directory; in one with the sticky bit too, as files can be made there. */
export function isWritableByOthers(directory: string): boolean {
  const stat = statSync(directory, { throwIfNoEntry: false });
  return process.geteuid !== undefined && stat !== undefined && (stat.mode & OTHERS_WRITE) !== 0;
}

/** Returns what to do about a directory of a control plane that its group or everyone can write in. */
export function directoryProblem(directory: string): string | undefined {
  if (!isWritableByOthers(directory)) return undefined;
  return `other users can write in ${directory}, so they can replace what meshd reads there, and meshd takes no request to reset a password: run chmod go-w ${directory}`;
}
