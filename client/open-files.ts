import { readlinkSync } from 'node:fs';
import path from 'node:path';
import { namesIn } from './if-readable.ts';

/** The kernel adds this to the name of a file that is gone and still open. */
const GONE = ' (deleted)';

/** Returns the file that a process has open under a number, also where it is gone by now; empty where none. Linux only. */
export function openFile(pid: number, descriptor: number): string {
  const file = linkOf(`/proc/${pid}/fd/${descriptor}`);
  return file.endsWith(GONE) ? file.slice(0, -GONE.length) : file;
}

/** Returns the processes of this network namespace. Linux only. */
export function processesHere(): readonly number[] {
  const own = linkOf('/proc/self/ns/net');
  return namesIn('/proc')
    .map(Number)
    .filter((pid) => Number.isSafeInteger(pid) && own !== '' && linkOf(`/proc/${pid}/ns/net`) === own);
}

/** Tells whether two names are those of one file in a run directory: `/var/run` is a link to `/run`. */
export function isSameInRun(one: string, other: string): boolean {
  const inRun = (name: string) => path.resolve(name).replace(/^\/var\/run\//, '/run/');
  return inRun(one) === inRun(other);
}

function linkOf(name: string): string {
  try {
    return readlinkSync(name);
  } catch {
    return '';
  }
}
